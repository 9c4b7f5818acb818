// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The loaded code of processes, learnt once for all processes of a job that map the same files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/code_catalogue.hpp"
#include "mpiacq/process/process_maps.hpp"
#include "mpiacq/process/unwind_modules.hpp"

namespace mpiacq {

/// The code of one process: its mappings, its modules for the unwinder, and its map for names.
struct loaded_code {
  std::vector<code_range> ranges;  ///< in the order of addresses
  unwind_map modules;
  code_map names;
};

/// How many processes a `module_catalogue` has learnt in each way.
struct module_catalogue_counts {
  std::size_t whole = 0;   ///< from all of /proc/PID/maps and the headers in the memory of the process
  std::size_t shared = 0;  ///< from the executable mappings, and from other processes with the same files
};

/// Learns the loaded code of processes.
///
/// The headers of a file are read from the first process that maps the file. Another process that maps the same bytes
/// of the same file (device, inode, offset, size) as code has the same module at its own address: the catalogue then
/// asks only for the executable mappings (`read_code_ranges`) and does not read memory. A process with an unknown
/// executable mapping, or with one that has no file, is learnt as a whole. An inode number is reused only after the
/// file is gone and no process maps it. Facts from a process are valid for one second, so that a reused number cannot
/// mislead. Thread: any, several at a time.
class module_catalogue {
 public:
  module_catalogue();
  ~module_catalogue();
  module_catalogue(const module_catalogue&) = delete;
  module_catalogue& operator=(const module_catalogue&) = delete;

  /// Learns the loaded code of one process. `memory` must outlive `loaded_code::names`. The process should be stopped;
  /// otherwise compare its mappings afterwards (`read_code_ranges`). Errors: those of `read_process_maps` and
  /// `unwind_modules_in`.
  [[nodiscard]] result<loaded_code> learn(process_id process, memory_reader& memory);
  /// How many processes the catalogue has learnt.
  [[nodiscard]] module_catalogue_counts counts() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq
