// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a process has loaded, learnt once for all processes of a job that map the same files.
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

/// What one process has mapped as code, what is known of the modules, and where their names come from.
struct loaded_code {
  std::vector<code_range> ranges;  ///< by address
  unwind_map modules;
  code_map names;
};

/// How many processes a `module_catalogue` has learnt in which way.
struct module_catalogue_counts {
  std::size_t whole = 0;   ///< from all of /proc/PID/maps and the headers in the process's own memory
  std::size_t shared = 0;  ///< from their executable mappings and what other processes have shown of the same files
};

/// Learns what processes have loaded.
///
/// The first process that maps a file shows what the file's headers say. Another process that maps the same bytes of
/// the same file (device, inode, offset, size) as code has the same module, moved to its own address: of that process
/// only the executable mappings are asked for (`read_code_ranges`), and its memory is not read. A process with any
/// executable mapping that is not known in this way, or that has no file, is learnt whole. The number of an inode goes
/// to another file only when the first file is gone and no process maps it any more; so that such a number cannot
/// mislead, what a process has shown holds for one second.
/// Thread: any, also several at a time.
class module_catalogue {
 public:
  module_catalogue();
  ~module_catalogue();
  module_catalogue(const module_catalogue&) = delete;
  module_catalogue& operator=(const module_catalogue&) = delete;

  /// `memory` must outlive the `names` that are given. The process should be stopped, or its mappings should be
  /// compared afterwards (`read_code_ranges`). Errors: those of `read_process_maps` and `unwind_modules_in`.
  [[nodiscard]] result<loaded_code> learn(process_id process, memory_reader& memory);
  [[nodiscard]] module_catalogue_counts counts() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq
