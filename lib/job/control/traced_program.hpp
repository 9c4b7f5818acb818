// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/symbols.hpp"
#include "mpiacq/process/tracer.hpp"
#include "parts/trap_control.hpp"

namespace mpiacq {

/// One process under the job's tracer, as the rooms of the interfaces see it: its memory and its symbols. It decides
/// nothing.
class traced_program {
 public:
  /// `user`: as for `process_memory`.
  traced_program(trap_control& traps, process_id pid, debug_file_search search, std::optional<user_id> user = {});

  [[nodiscard]] process_id pid() const { return pid_; }

  /// Looks at the program anew: at its entry point, after each exec. The process must be stopped.
  [[nodiscard]] result<void> open();
  /// What the rooms of the interfaces see. Only between `open` and the next exec, and while stopped.
  [[nodiscard]] target view();
  /// Null before `open`.
  [[nodiscard]] process_symbols* symbols() { return symbols_.get(); }
  [[nodiscard]] const process_symbols* symbols() const { return symbols_.get(); }

  [[nodiscard]] result<void> write(target_address address, std::span<const std::byte> bytes);
  /// The same. If this program ends before it lets go of the process, the bytes of before are put back.
  [[nodiscard]] result<void> write_while_here(target_address address, std::span<const std::byte> bytes);

  /// Stops the process at each change of its dynamic linker's link map, or no longer. A static program never stops.
  [[nodiscard]] result<void> watch_link_map();
  [[nodiscard]] result<void> stop_watching_link_map();
  /// Whether a breakpoint at this address is that watch.
  [[nodiscard]] bool is_link_map_watch(target_address address) const { return watch_ == address; }

  /// Forgets what was read: the process is about to run.
  void about_to_run();

 private:
  trap_control& traps_;
  process_id pid_;
  debug_file_search search_;
  process_memory memory_;
  page_cache cache_;
  std::unique_ptr<process_symbols> symbols_;
  std::optional<target_address> watch_;
};

}  // namespace mpiacq
