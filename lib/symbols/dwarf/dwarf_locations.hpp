// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dwarf/dwarf_data.hpp"
#include "elf/byte_cursor.hpp"

namespace mpiacq::debug_info {

/// The largest number of pieces of code in which a variable is in different places, and of bytes of one expression.
inline constexpr std::size_t most_pieces = 4096;
inline constexpr std::size_t largest_location = 128;

/// Reads the locations of one unit's entries (DWARF 5, 2.6). libdw would read every expression of a list, whatever its
/// length; this reads the one that is asked for.
class location_reader {
 public:
  /// The unit of an entry of `data`, which must outlive this object.
  location_reader(const dwarf_data& data, const Dwarf_Die& entry);

  /// The expression of a location attribute that holds at a link-time address. Empty: there is none, it is too long, or
  /// the list is broken. Valid as long as `data`. Errors: limit.
  [[nodiscard]] result<std::span<const std::byte>> at(Dwarf_Attribute& attribute, std::uint64_t address) const;

 private:
  /// Some code, and what holds there.
  struct piece {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::span<const std::byte> expression;
  };
  enum class next : std::uint8_t { piece, nothing, end };

  [[nodiscard]] std::optional<std::span<const std::byte>> list_of(Dwarf_Attribute& attribute) const;
  [[nodiscard]] next take(byte_cursor& from, std::uint64_t& base, piece& into) const;
  [[nodiscard]] next take_before_5(byte_cursor& from, std::uint64_t& base, piece& into) const;
  [[nodiscard]] std::uint64_t address_at(std::uint64_t index, bool& good) const;

  const dwarf_data& data_;
  Dwarf_Half version_ = 0;
  std::uint8_t address_size_ = 0;
  std::uint8_t offset_size_ = 0;
  std::uint64_t low_pc_ = 0;
  std::uint64_t address_base_ = 0;
  std::uint64_t list_base_ = 0;
};

}  // namespace mpiacq::debug_info
