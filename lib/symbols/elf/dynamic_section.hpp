// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/memory.hpp"

namespace mpiacq::elf {

/// The dynamic section of a module, in a live process or in its file. Every address in it is ready to be read: the
/// reader has decided whether the dynamic linker relocated it (glibc relocates it; musl does not; it is never relocated
/// in the vDSO and in a file).
struct dynamic_section {
  std::optional<target_address> gnu_hash;
  std::optional<target_address> hash;
  std::optional<target_address> symbols;
  std::optional<target_address> strings;
  std::uint64_t strings_size = 0;
  std::uint64_t symbol_size = 0;  ///< DT_SYMENT
  /// DT_DEBUG: the address of the dynamic linker's r_debug. Never relocated; null until the dynamic linker has run.
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

/// A string of the section's string table. Error: bad_format (it is outside of the table).
[[nodiscard]] result<std::string> read_dynamic_string(memory_reader& memory, const dynamic_section& of,
                                                      std::uint64_t offset);

/// Whether this error means that nothing more of the target can be read. Any other error concerns one module.
[[nodiscard]] bool concerns_whole_target(const error& e);

}  // namespace mpiacq::elf
