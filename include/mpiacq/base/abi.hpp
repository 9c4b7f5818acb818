// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mpiacq {

enum class byte_order : std::uint8_t { little, big };

/// How the target's compiler lays out C types, all sizes in bytes. It comes from the target's ELF header; the host's
/// `sizeof` and byte order are never used for target data.
struct target_abi {
  std::uint8_t pointer_size = 8;  ///< 4 or 8
  byte_order order = byte_order::little;
  std::uint8_t short_size = 2;
  std::uint8_t int_size = 4;
  std::uint8_t long_size = 8;
  std::uint8_t long_long_size = 8;
  std::uint8_t bool_size = 1;
  std::uint8_t size_t_size = 8;
  std::uint16_t elf_machine = 0;  ///< e_machine (EM_X86_64 = 62 ...), 0 where unknown

  friend bool operator==(const target_abi&, const target_abi&) = default;
};

/// The Linux C ABI of an ELF class (1: 32-bit, 2: 64-bit), data encoding (1: little, 2: big) and machine. x32
/// (32-bit class on EM_X86_64) has 4-byte pointers and longs.
[[nodiscard]] target_abi abi_of_elf(std::uint8_t elf_class, std::uint8_t elf_data, std::uint16_t machine);

/// An integer of `bytes.size()` (1 to 8) bytes in the given order, zero-extended. A size outside of that gives 0:
/// callers check sizes that come from foreign bytes before they decode.
[[nodiscard]] std::uint64_t decode_unsigned(std::span<const std::byte> bytes, byte_order order);

/// The same, sign-extended from its own width.
[[nodiscard]] std::int64_t decode_signed(std::span<const std::byte> bytes, byte_order order);

/// Writes the low `into.size()` (1 to 8) bytes of `value` in the given order.
void encode_integer(std::uint64_t value, byte_order order, std::span<std::byte> into);

}  // namespace mpiacq
