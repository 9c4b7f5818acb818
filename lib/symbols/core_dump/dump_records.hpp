// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The bytes of a core file's headers and notes (System V gABI; elf_core_dump in the kernel's fs/binfmt_elf.c).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "elf/elf_records.hpp"
#include "mpiacq/base/abi.hpp"

namespace mpiacq::elf {

/// What a core of one machine has beyond its class and byte order.
struct dump_machine {
  std::uint16_t elf_machine = 0;
  std::uint8_t pointer_size = 0;
  std::uint8_t user_id_size = 0;    ///< of the ids in NT_PRPSINFO
  std::size_t registers = 0;        ///< the size of NT_PRSTATUS's register set
  std::size_t stack_pointer = 0;    ///< its offset in that set
  std::size_t most_floating = 512;  ///< the largest set of NT_PRFPREG
};
/// Null if cores of this machine are not known.
[[nodiscard]] const dump_machine* dump_machine_of(const target_abi& abi);

/// Appends integers, texts and paddings in the target's form.
class record_writer {
 public:
  explicit record_writer(const target_abi& abi) : abi_(abi) {}

  record_writer& number(std::uint64_t value, std::size_t size);
  record_writer& half(std::uint64_t value) { return number(value, 2); }
  record_writer& word(std::uint64_t value) { return number(value, 4); }
  /// An integer of the target's `long`.
  record_writer& wide(std::uint64_t value) { return number(value, abi_.long_size); }
  record_writer& raw(std::span<const std::byte> bytes);
  /// Exactly `size` bytes: the text, cut off or padded with zeros.
  record_writer& text(std::string_view value, std::size_t size);
  /// Zeros up to a multiple of `alignment`.
  record_writer& align(std::size_t alignment);
  record_writer& pad_to(std::size_t size);

  /// One note of the owner "CORE".
  record_writer& note(std::uint32_t type, std::span<const std::byte> contents);

  [[nodiscard]] const target_abi& abi() const { return abi_; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  target_abi abi_;
  std::vector<std::byte> bytes_;
};

/// The places of a core's parts, before its memory.
struct dump_places {
  std::uint64_t segments = 0;  ///< the program headers
  std::uint64_t section = 0;   ///< the section header with the true number of segments; 0: none
  std::uint64_t notes = 0;
  std::uint64_t memory = 0;  ///< a multiple of the page size
};
[[nodiscard]] dump_places place_parts(const target_abi& abi, std::size_t segments, std::size_t notes,
                                      std::uint64_t page_size);

/// The ELF header, the program headers and, for 65,535 segments or more, the section header with their number
/// (PN_XNUM): the bytes of the file up to `places.notes`.
[[nodiscard]] record_writer encode_headers(const target_abi& abi, const dump_places& places,
                                           std::span<const segment> segments);

}  // namespace mpiacq::elf
