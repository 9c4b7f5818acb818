// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dwarf/split_file.hpp"
#include "elf/memory_elf.hpp"

namespace mpiacq::debug_info {

/// The parts of a program that its split unit needs.
struct skeleton_parts {
  std::uint64_t low_pc = 0;              ///< the base of the ranges in the unit
  std::span<const std::byte> addresses;  ///< .debug_addr from the unit's base on
  std::span<const std::byte> ranges;     ///< .debug_ranges from the unit's base on; before DWARF 5 only
};

/// Joins a split unit and its skeleton into one unit, in a file that libdw can read.
///
/// libdw could join the two by itself, but it opens any file that the skeleton names, in this process's root, with no
/// bound, and does not support packages. The joined unit is as long as the split one, so that no reference in it
/// changes: the unit id, eight bytes in its header or in its first entry, is replaced by the base address of the ranges
/// (DW_AT_low_pc). Only the strings that the unit refers to are copied.
///
/// Errors: bad_format, limit.
[[nodiscard]] result<elf::memory_elf> make_whole_unit(const split_unit& unit, const skeleton_parts& skeleton,
                                                      const target_abi& abi, const std::string& name,
                                                      dwarf_allowance& allowance);

}  // namespace mpiacq::debug_info
