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

/// Counts the memory that libdw will use for one file, before libdw allocates it, and takes it from the allowance: for
/// each unit, for the abbreviations of each unit that is read, for each row of a line table. Each function returns
/// false if the allowance is too small.
class dwarf_costs {
 public:
  /// The sections as libdw has them, inflated; they must outlive this object.
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

  /// All units up to their first entries: the cost of a loop over all units.
  [[nodiscard]] bool take_units();
  /// Whether a unit has a part in another file. Call `take_units` first.
  [[nodiscard]] bool has_split_units() const { return has_split_units_; }
  /// The abbreviations of a unit, counted once.
  [[nodiscard]] bool take_unit(Dwarf_CU* unit);
  /// The line table at an offset of .debug_line, counted once.
  [[nodiscard]] bool take_lines(std::uint64_t offset);

 private:
  [[nodiscard]] bool take_units_in(std::span<const std::byte> units, bool of_types);
  [[nodiscard]] bool take_first_entry(std::uint64_t table, std::span<const std::byte> entry);
  [[nodiscard]] bool take_table(std::uint64_t offset);

  sections of_;
  std::shared_ptr<dwarf_allowance> allowance_;
  bool has_split_units_ = false;
  std::unordered_map<const Dwarf_CU*, bool> units_;               ///< whether the allowance was sufficient
  std::unordered_map<std::uint64_t, std::uint64_t> table_sizes_;  ///< in abbreviations, by offset
  std::unordered_map<std::uint64_t, bool> lines_;                 ///< whether the allowance was sufficient, by offset
};

/// The largest possible number of rows of a line table, and the size of its header in bytes.
struct line_table_size {
  std::uint64_t rows = 0;
  std::uint64_t header = 0;
};
[[nodiscard]] line_table_size size_of_line_table(std::span<const std::byte> table, byte_order order);

}  // namespace mpiacq::debug_info
