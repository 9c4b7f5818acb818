// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/breakpoints.hpp"
#include "engine/guard_link.hpp"
#include "engine/tracee.hpp"

namespace mpiacq::tracing {

/// Resumes processes: first one step for each thread that stands on a breakpoint, then all threads.
class resuming {
 public:
  resuming(const ptrace_calls& calls, breakpoints& armed, const guard_link& guard, const tracer_options& options)
      : calls_(calls), breakpoints_(armed), guard_(guard), options_(options) {}

  /// Resumes all threads, with their signals. Threads that stand on a breakpoint are stepped off it first; the process
  /// is then in phase stepping.
  void run(traced_process& process);
  /// Steps the next thread that stands on a breakpoint. All other threads are held and no breakpoint is armed, so that
  /// the step cannot hit one. False if no thread must step.
  [[nodiscard]] bool step_next(traced_process& process);
  /// Arms the breakpoints and resumes all threads. No thread must step any more.
  void arm_and_run(traced_process& process);
  /// Resumes one stopped thread.
  void run_thread(traced_process& process, traced_thread& thread);
  /// A thread that stopped just as it ran onto a breakpoint still has to report the breakpoint's SIGTRAP
  /// (pending_trap.hpp). This resumes the thread so that it reports it. False if no SIGTRAP is pending.
  [[nodiscard]] bool run_into_pending_trap(const traced_process& process, traced_thread& thread);
  /// Interrupts a step that takes too long, because the instruction under the breakpoint is a system call. The
  /// interrupt ends it as a signal would.
  void interrupt_step(traced_process& process);

 private:
  void stay_in_group_stop(traced_thread& thread);

  const ptrace_calls& calls_;
  breakpoints& breakpoints_;
  const guard_link& guard_;
  const tracer_options& options_;
};

}  // namespace mpiacq::tracing
