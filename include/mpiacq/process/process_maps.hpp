// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the kernel says a process has mapped, for those who make more than one thing of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// The text of /proc/PID/maps. The kernel writes it anew for each reading, which takes longer than all that is made of
/// it: `unwind_modules_in` and `code_map::in` share one.
/// Errors: process_gone (also for one that has ended and was not waited for), permission, system.
[[nodiscard]] result<std::string> read_process_maps(process_id process);

/// One executable mapping of a process. The file is as /proc/PID/maps has it: some file systems give stat(2) another
/// device or inode.
struct code_range {
  target_address begin;
  target_address end;
  std::uint64_t offset = 0;  ///< of its first byte in the file
  std::uint64_t device = 0;  ///< as makedev(3) puts it together
  std::uint64_t inode = 0;   ///< 0: no file
  bool is_vdso = false;      ///< the kernel's own code for programs
  friend bool operator==(const code_range&, const code_range&) = default;
};

/// The executable mappings of a process, by address, without the kernel's page at the end of the address space
/// ("[vsyscall]"). Where the kernel answers questions about single mappings (PROCMAP_QUERY, Linux 6.11), this costs one
/// call for each of them, which takes much less than the kernel needs to write the text of all mappings.
/// Errors: those of `read_process_maps`.
[[nodiscard]] result<std::vector<code_range>> read_code_ranges(process_id process);

}  // namespace mpiacq
