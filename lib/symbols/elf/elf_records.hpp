// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "mpiacq/base/abi.hpp"

/// ELF's records as values, decoded once from either class and byte order (System V gABI, chapters 4 and 5).
namespace mpiacq::elf {

/// The ELF header.
struct file_header {
  target_abi abi;
  std::uint16_t type = 0;
  std::uint64_t entry = 0;
  std::uint64_t segments_offset = 0;
  std::uint64_t sections_offset = 0;
  std::uint16_t segment_size = 0;
  std::uint16_t segment_count = 0;
  std::uint16_t section_size = 0;
  std::uint16_t section_count = 0;
  std::uint16_t section_names = 0;
};

/// A program header.
struct segment {
  std::uint32_t type = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_size = 0;
  std::uint64_t memory_size = 0;
  std::uint64_t alignment = 0;
  friend bool operator==(const segment&, const segment&) = default;
};

struct section {
  std::uint32_t name = 0;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0;
  std::uint32_t info = 0;
  std::uint64_t entry_size = 0;
};

struct symbol_record {
  std::uint32_t name = 0;
  std::uint8_t info = 0;
  std::uint16_t section = 0;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
};

struct dynamic_entry {
  std::int64_t tag = 0;
  std::uint64_t value = 0;
};

/// The largest header of the two classes: what to read before the class is known.
inline constexpr std::size_t largest_header_size = 64;

/// The header, from at least its own size of bytes; empty if the bytes are no ELF header or too few.
[[nodiscard]] std::optional<file_header> decode_header(std::span<const std::byte> bytes);
[[nodiscard]] bool has_magic(std::span<const std::byte> bytes);

// The size of each record in the target's class.
[[nodiscard]] std::size_t segment_record_size(const target_abi& abi);
[[nodiscard]] std::size_t section_record_size(const target_abi& abi);
[[nodiscard]] std::size_t symbol_record_size(const target_abi& abi);
[[nodiscard]] std::size_t dynamic_entry_size(const target_abi& abi);

// Each function decodes one record from its first bytes; the caller must provide enough bytes.
[[nodiscard]] segment decode_segment(std::span<const std::byte> bytes, const target_abi& abi);
[[nodiscard]] section decode_section(std::span<const std::byte> bytes, const target_abi& abi);
[[nodiscard]] symbol_record decode_symbol(std::span<const std::byte> bytes, const target_abi& abi);
/// Only the name of a symbol, for a search over all symbols of a table: it is the first field in both classes.
[[nodiscard]] inline std::uint32_t symbol_name_offset(std::span<const std::byte> bytes, const target_abi& abi) {
  std::array<std::uint32_t, 4> b{};
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = std::to_integer<std::uint32_t>(bytes[i]);
  return abi.order == byte_order::little ? b[0] | b[1] << 8 | b[2] << 16 | b[3] << 24
                                         : b[3] | b[2] << 8 | b[1] << 16 | b[0] << 24;
}
[[nodiscard]] dynamic_entry decode_dynamic(std::span<const std::byte> bytes, const target_abi& abi);

}  // namespace mpiacq::elf
