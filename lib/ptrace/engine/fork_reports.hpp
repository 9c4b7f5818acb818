// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/tracee.hpp"
#include "kernel/ptrace_call.hpp"
#include "kernel/tracing_options.hpp"

namespace mpiacq::tracing {

/// The ptrace options for a thread of this process.
[[nodiscard]] inline unsigned long options_of(const traced_process& process) {
  unsigned long options = base_options;
  if (process.ends_with_tool) options |= PTRACE_O_EXITKILL;
  if (process.sees_forks) options |= fork_options;
  if (process.reports_end) options |= PTRACE_O_TRACEEXIT;
  return options;
}

/// Turns the kernel's fork reports for this process on or off. A report costs a stop, so that forks are reported only
/// while the tool wants the children, or while there is a trap for them to inherit. All threads that the tracer does
/// not wait for are stopped. None of them is in the middle of a fork, because fork has no stop inside it.
inline void update_fork_reports(const ptrace_calls& calls, traced_process& process) {
  const bool wanted = process.follow_children || process.breakpoints.has_software();
  if (process.sees_forks == wanted) return;
  process.sees_forks = wanted;
  for (const auto& [task, thread] : process.threads) {
    if (thread.is_stopped()) static_cast<void>(calls.set_options(task, options_of(process)));
  }
}

}  // namespace mpiacq::tracing
