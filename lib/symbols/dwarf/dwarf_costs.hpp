// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include <elfutils/libdw.h>

#include "dwarf/dwarf_allowance.hpp"
#include "mpiacq/base/abi.hpp"

namespace mpiacq::debug_info {

/// Counts what libdw will keep of one file before it does, and takes it from the allowance: for each unit, for the
/// abbreviations of each unit that is looked into, for each row of a line table. False everywhere: the allowance does
/// not suffice.
class dwarf_costs {
 public:
  /// The sections as libdw has them, inflated; they must outlive this.
  struct sections {
    std::span<const std::byte> units;
    std::span<const std::byte> type_units;
    std::span<const std::byte> abbreviations;
    std::span<const std::byte> lines;
    byte_order order = byte_order::little;
  };

  dwarf_costs() = default;
  dwarf_costs(const sections& of, std::shared_ptr<dwarf_allowance> allowance)
      : of_(of), allowance_(std::move(allowance)) {}

  /// All units, as far as their first entries: what it costs to go through them.
  [[nodiscard]] bool take_units();
  /// Whether a unit was met that has a part in another file (`take_units` has been called).
  [[nodiscard]] bool has_split_units() const { return has_split_units_; }
  /// The abbreviations of a unit, once.
  [[nodiscard]] bool take_unit(Dwarf_CU* unit);
  /// The line table at an offset of .debug_line, once.
  [[nodiscard]] bool take_lines(std::uint64_t offset);

 private:
  [[nodiscard]] bool take_units_in(std::span<const std::byte> units, bool of_types);
  [[nodiscard]] bool take_first_entry(std::uint64_t table, std::span<const std::byte> entry);
  [[nodiscard]] bool take_table(std::uint64_t offset);

  sections of_;
  std::shared_ptr<dwarf_allowance> allowance_;
  bool has_split_units_ = false;
  std::unordered_map<const Dwarf_CU*, bool> units_;               ///< whether they could be taken
  std::unordered_map<std::uint64_t, std::uint64_t> table_sizes_;  ///< in abbreviations, by offset
  std::unordered_map<std::uint64_t, bool> lines_;                 ///< whether they could be taken, by offset
};

/// How many rows a line table has at most, and how many bytes its header has.
struct line_table_size {
  std::uint64_t rows = 0;
  std::uint64_t header = 0;
};
[[nodiscard]] line_table_size size_of_line_table(std::span<const std::byte> table, byte_order order);

}  // namespace mpiacq::debug_info
