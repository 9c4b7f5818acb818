// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "engine/children.hpp"
#include "engine/guard_link.hpp"

namespace mpiacq::tracing {

/// Lets processes go: takes the breakpoints out, detaches from each thread, and forgets the process once no thread is
/// left. A thread that did not stop in time is let go when it comes back from the kernel.
class detaching {
 public:
  detaching(kernel_access kernel, tracee_table& tracees, breakpoints& armed, children& born, const guard_link& guard)
      : kernel_(kernel), tracees_(tracees), breakpoints_(armed), children_(born), guard_(guard) {}

  /// tracer::restore_on_exit.
  [[nodiscard]] result<void> restore_on_exit(traced_process& process, target_address address,
                                             std::vector<std::byte> bytes);
  /// Makes the writes of restore_on_exit. No tool is left that could be told of a failure.
  void restore(traced_process& process);

  /// A detach was asked for, and every thread that could be stopped is.
  void finish(traced_process& process);
  /// The process has ended in the middle of a detach, or was let go because of something else.
  static void answer(traced_process& process, result<void> outcome);

  /// The process is not to be traced any more, and its breakpoints are out: detaches from each thread that has stopped.
  /// Gives the threads that have not.
  std::vector<pid_t> let_go(traced_process& process);
  /// A thread of a process in phase leaving has stopped at last.
  void let_go_late(traced_process& process, traced_thread& thread);
  /// Phase leaving: where no thread is left, the process is forgotten, or is a child that may still end.
  void end_if_empty(traced_process& process);
  /// Phase leaving: a thread that was let go may have become the leader by an exec. The old leader is gone then, and
  /// the kernel does not report that.
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
