// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "elf/byte_cursor.hpp"

/// Readers of units and abbreviations for two purposes that libdw does not serve: to count costs before libdw reads the
/// units, and to convert a split unit into a unit that libdw reads (DWARF 5, 7.5.1 and 7.5.3).
namespace mpiacq::debug_info {

/// A unit's header.
struct unit_header {
  std::uint64_t size = 0;  ///< bytes of the whole unit, with its length field
  std::size_t offset_size = 4;
  std::uint16_t version = 0;
  std::uint8_t type = 0;  ///< DW_UT_...; 0 before DWARF 5
  std::uint8_t address_size = 0;
  std::uint64_t abbreviations = 0;      ///< the offset of its table
  std::optional<std::uint64_t> dwo_id;  ///< for a skeleton or a split unit of DWARF 5
  std::size_t header_size = 0;          ///< the offset of its first entry
};

/// The header at the beginning of `bytes`; empty if it is none of DWARF 2 to 5, or if the unit is longer than the
/// bytes. `of_types`: before DWARF 5, units of .debug_types have a signature.
[[nodiscard]] std::optional<unit_header> decode_unit_header(std::span<const std::byte> bytes, byte_order order,
                                                            bool of_types);

/// One abbreviation.
struct abbreviation {
  struct attribute {
    std::uint64_t name = 0;
    std::uint64_t form = 0;
    std::span<const std::byte> implicit;  ///< the constant of DW_FORM_implicit_const, encoded
  };
  std::uint64_t code = 0;
  std::uint64_t tag = 0;
  bool has_children = false;
  std::vector<attribute> attributes;
};

/// More attributes than an abbreviation of any compiler has: each search for an attribute goes through all of them.
inline constexpr std::size_t most_attributes = 256;

/// Reads the next abbreviation of a table into `read`, whose memory is reused. False at the end of the table, and if
/// the bytes are no abbreviation.
[[nodiscard]] bool next_abbreviation(byte_cursor& table, abbreviation& read);

/// Moves past a value of a form. False: the form is unknown, or the value does not end.
[[nodiscard]] bool skip_form(byte_cursor& at, std::uint64_t form, const unit_header& unit);

}  // namespace mpiacq::debug_info
