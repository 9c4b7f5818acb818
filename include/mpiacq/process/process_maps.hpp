// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The mappings of a process, as the kernel lists them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// The text of /proc/PID/maps. The kernel writes it anew for each reading, which takes longer than all uses of it; read
/// it once for `unwind_modules_in` and `code_map::in`. Errors: process_gone (also for a zombie), permission, system.
[[nodiscard]] result<std::string> read_process_maps(process_id process);

/// One executable mapping of a process. Device and inode are those of /proc/PID/maps; on some file systems stat(2)
/// gives others.
struct code_range {
  target_address begin;
  target_address end;
  std::uint64_t offset = 0;  ///< the offset of its first byte in the file
  std::uint64_t device = 0;  ///< as makedev(3) combines it
  std::uint64_t inode = 0;   ///< 0: no file
  bool is_vdso = false;      ///< the vDSO
  friend bool operator==(const code_range&, const code_range&) = default;
};

/// The executable mappings of a process in the order of addresses, without "[vsyscall]". With PROCMAP_QUERY (Linux
/// 6.11) this costs one call for each mapping, which takes much less time than the text of all mappings. Errors: those
/// of `read_process_maps`.
[[nodiscard]] result<std::vector<code_range>> read_code_ranges(process_id process);

}  // namespace mpiacq
