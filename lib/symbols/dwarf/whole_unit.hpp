// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dwarf/split_file.hpp"
#include "elf/memory_elf.hpp"

namespace mpiacq::debug_info {

/// What a split unit takes from the program that its skeleton is in.
struct skeleton_parts {
  std::uint64_t low_pc = 0;              ///< what ranges in the unit count from
  std::span<const std::byte> addresses;  ///< .debug_addr from the unit's base on
  std::span<const std::byte> ranges;     ///< .debug_ranges from the unit's base on; before DWARF 5 only
};

/// Makes one whole unit, in a file that libdw can read, out of a split unit and what its skeleton adds.
///
/// libdw could join the two by itself, but it opens whatever file the skeleton names, in this process's root, with no
/// bound, and knows no packages. The joined unit is as long as the split one, so that no reference in it changes: the
/// unit's number, eight bytes in its header or in its first entry, gives way to the address that ranges count from
/// (DW_AT_low_pc). Strings are copied as far as the unit refers to them.
///
/// Errors: bad_format, limit.
[[nodiscard]] result<elf::memory_elf> make_whole_unit(const split_unit& unit, const skeleton_parts& skeleton,
                                                      const target_abi& abi, const std::string& name,
                                                      dwarf_allowance& allowance);

}  // namespace mpiacq::debug_info
