// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/children.hpp"
#include "engine/guard_link.hpp"

namespace mpiacq::tracing {

/// Releases processes: removes the breakpoints, detaches from each thread, and forgets the process when no thread is
/// left. A thread that did not stop in time is released when it returns from the kernel.
class detaching {
 public:
  detaching(kernel_access kernel, tracee_table& tracees, breakpoints& armed, children& born, const guard_link& guard)
      : kernel_(kernel), tracees_(tracees), breakpoints_(armed), children_(born), guard_(guard) {}

  /// tracer::restore_on_exit.
  [[nodiscard]] result<void> restore_on_exit(traced_process& process, target_address address,
                                             std::vector<std::byte> bytes);
  /// Performs the writes of restore_on_exit. Errors are ignored, because the tool has gone.
  void restore(traced_process& process);

  /// Completes a requested detach: every thread that could be stopped is stopped.
  void finish(traced_process& process);
  /// Answers the pending detach: the process has ended, or was released for another reason.
  static void answer(traced_process& process, result<void> outcome);

  /// Detaches from each stopped thread of a process whose breakpoints are removed. Returns the threads that have not
  /// stopped.
  std::vector<pid_t> let_go(traced_process& process);
  /// Releases a thread that stopped late, in phase leaving.
  void let_go_late(traced_process& process, traced_thread& thread);
  /// Phase leaving: if no thread is left, forgets the process, or keeps it as a child whose end will be reported.
  void end_if_empty(traced_process& process);
  /// Phase leaving: a released thread can become the leader by an exec. The old leader has then gone without a report
  /// of the kernel.
  void look_at_leader(traced_process& process);
  void forget(traced_process& process);

 private:
  void detach(traced_process& process, traced_thread& thread);

  kernel_access kernel_;
  tracee_table& tracees_;
  breakpoints& breakpoints_;
  children& children_;
  const guard_link& guard_;
};

}  // namespace mpiacq::tracing
