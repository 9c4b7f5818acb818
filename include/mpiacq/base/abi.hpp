// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// How the compiler of a target lays out C types, and integers in the order of a target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace mpiacq {

/// The order of the bytes of an integer in memory.
enum class byte_order : std::uint8_t { little, big };

/// How the compiler of the target lays out C types. All sizes are in bytes. The values come from the ELF header of the
/// target. The `sizeof` and the byte order of the host are never used for data of the target.
struct target_abi {
  std::uint8_t pointer_size = 8;  ///< 4 or 8
  byte_order order = byte_order::little;
  std::uint8_t short_size = 2;
  std::uint8_t int_size = 4;
  std::uint8_t long_size = 8;
  std::uint8_t long_long_size = 8;
  std::uint8_t bool_size = 1;
  std::uint8_t size_t_size = 8;
  std::uint16_t elf_machine = 0;  ///< e_machine (EM_X86_64 = 62 ...), 0 if it is not known

  friend bool operator==(const target_abi&, const target_abi&) = default;
};

/// The Linux C ABI of an ELF class (1: 32-bit, 2: 64-bit), data encoding (1: little, 2: big) and machine. x32 (32-bit
/// class on EM_X86_64) has 4-byte pointers and longs.
[[nodiscard]] target_abi abi_of_elf(std::uint8_t elf_class, std::uint8_t elf_data, std::uint16_t machine);

/// Decodes an integer of `bytes.size()` (1 to 8) bytes and extends it with zeros. Any other size gives 0: callers check
/// sizes that come from foreign bytes before they decode.
[[nodiscard]] std::uint64_t decode_unsigned(std::span<const std::byte> bytes, byte_order order);

/// Decodes a signed integer of `bytes.size()` (1 to 8) bytes and extends it by its sign.
[[nodiscard]] std::int64_t decode_signed(std::span<const std::byte> bytes, byte_order order);

/// Writes the low `into.size()` (1 to 8) bytes of `value` in the given order.
void encode_integer(std::uint64_t value, byte_order order, std::span<std::byte> into);

}  // namespace mpiacq
