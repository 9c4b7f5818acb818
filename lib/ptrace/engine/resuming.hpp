// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/breakpoints.hpp"
#include "engine/guard_link.hpp"
#include "engine/tracee.hpp"

namespace mpiacq::tracing {

/// Lets processes run: one step off a breakpoint for each thread that stands on one, then all threads.
class resuming {
 public:
  resuming(const ptrace_calls& calls, breakpoints& armed, const guard_link& guard, const tracer_options& options)
      : calls_(calls), breakpoints_(armed), guard_(guard), options_(options) {}

  /// All threads go on, with their signals. Threads that stand on a breakpoint are stepped off it first, and the
  /// process is in phase stepping then.
  void run(traced_process& process);
  /// The next thread that stands on a breakpoint makes its step, while all others are held and nothing is armed: so one
  /// step cannot hit anything. False where no thread is left that must step.
  [[nodiscard]] bool step_next(traced_process& process);
  /// No thread must step any more.
  void arm_and_run(traced_process& process);
  /// One stopped thread goes on.
  void run_thread(traced_process& process, traced_thread& thread);
  /// A thread that stopped just as it ran onto a breakpoint has the breakpoint's SIGTRAP still to report
  /// (pending_trap.hpp). It goes on into that. False where there is none.
  [[nodiscard]] bool run_into_pending_trap(const traced_process& process, traced_thread& thread);
  /// A step takes too long: the instruction under the breakpoint is a system call. An interrupt ends it as a signal
  /// would.
  void interrupt_step(traced_process& process);

 private:
  void stay_in_group_stop(traced_thread& thread);

  const ptrace_calls& calls_;
  breakpoints& breakpoints_;
  const guard_link& guard_;
  const tracer_options& options_;
};

}  // namespace mpiacq::tracing
