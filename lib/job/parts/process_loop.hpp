// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "parts/process_patches.hpp"
#include "starter/followed_process.hpp"

namespace mpiacq {

/// What the control of ranks asks of the job's event loop.
class process_loop {
 public:
  virtual ~process_loop() = default;
  /// Null for a process that the job does not follow.
  [[nodiscard]] virtual followed_process* find(process_id pid) = 0;
  /// The job's tracer holds this process or can stop it.
  [[nodiscard]] virtual bool traces(process_id pid) const = 0;
  /// Does what the interface of a process asks for. True where the process has to stay stopped for the caller.
  [[nodiscard]] virtual bool carry_out(followed_process& process, process_interface::steps steps,
                                       write_duration duration) = 0;
  /// Resumes a stopped process, unless it is wanted held (followed_process::stays).
  virtual void run_on(followed_process& process) = 0;
  /// Stops all threads of those of these processes that the job follows. A process may reach a breakpoint before: that
  /// is handled only after the caller has taken the events that wait for it.
  virtual void stop_all(std::span<const process_id> which) = 0;
};

}  // namespace mpiacq
