// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/memory.hpp"

namespace mpiacq::elf {

/// One object on the dynamic linker's list (`struct link_map` of <link.h>, in the target's layout).
struct link_map_entry {
  target_address bias;     ///< l_addr
  target_address dynamic;  ///< l_ld, a run-time address
  std::string name;        ///< l_name, empty for the executable
  friend bool operator==(const link_map_entry&, const link_map_entry&) = default;
};

/// The dynamic linker's list (`struct r_debug`).
struct link_map {
  std::vector<link_map_entry> entries;
  std::optional<target_address> breakpoint;  ///< r_brk
  std::vector<error> problems;               ///< entries before a fault are kept
};

/// Where the head of the list is, and whether the list is consistent.
struct link_map_head {
  target_address first;
  std::optional<target_address> breakpoint;
  bool being_changed = false;  ///< r_state is not RT_CONSISTENT
};

/// Errors: unreadable_memory and those of the reader.
[[nodiscard]] result<link_map_head> read_link_map_head(memory_reader& memory, const target_abi& abi,
                                                       target_address r_debug);

/// Follows the list. A list that has unreadable entries, a cycle or no end is a problem in the answer. Errors: only
/// those of the reader.
[[nodiscard]] result<link_map> read_link_map(memory_reader& memory, const target_abi& abi, const link_map_head& head);

}  // namespace mpiacq::elf
