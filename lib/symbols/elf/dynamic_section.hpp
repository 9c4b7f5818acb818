// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/memory.hpp"

namespace mpiacq::elf {

/// A loaded module's dynamic section, live in a process or as its file has it. Every address here is one to read at:
/// whether the dynamic linker relocated it (glibc does, musl does not, nobody does for the vDSO and for a
/// file) has been decided.
struct dynamic_section {
  std::optional<target_address> gnu_hash;
  std::optional<target_address> hash;
  std::optional<target_address> symbols;
  std::optional<target_address> strings;
  std::uint64_t strings_size = 0;
  std::uint64_t symbol_size = 0;  ///< DT_SYMENT
  /// DT_DEBUG: where the dynamic linker's r_debug is. Never relocated; null until the dynamic linker has run.
  std::optional<target_address> debug;

  // Offsets into the strings.
  std::vector<std::uint64_t> needed;
  std::optional<std::uint64_t> soname;
  std::optional<std::uint64_t> rpath;
  std::optional<std::uint64_t> runpath;
};

/// Reads the section at `address` (a run-time address) up to DT_NULL. Errors: unreadable_memory, bad_format (no end),
/// and those of the reader.
[[nodiscard]] result<dynamic_section> read_dynamic_section(memory_reader& memory, const target_abi& abi,
                                                           target_address bias, target_address address);

/// A string of the section's string table; error bad_format where it is not within the table.
[[nodiscard]] result<std::string> read_dynamic_string(memory_reader& memory, const dynamic_section& of,
                                                      std::uint64_t offset);

/// Whether this error says that nothing more can be read of the whole target, and not only that one module is odd.
[[nodiscard]] bool concerns_whole_target(const error& e);

}  // namespace mpiacq::elf
