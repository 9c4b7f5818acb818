// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/tracee.hpp"
#include "kernel/kernel_access.hpp"

namespace mpiacq::tracing {

/// Tells the end of a process from the end of a thread, and says how the process ends (process_ending).
///
/// Every thread comes to an exit stop (PTRACE_EVENT_EXIT) before it ends, and its event message is the status with
/// which it ends. Three causes look alike:
///
///   cause                the thread's status   its system call   the others
///   -------------------  --------------------  ----------------  ---------------------------------------------
///   it ends alone        its own               exit              run on
///   the process ends     the process's         exit_group, any   have SIGKILL pending until they stop, too
///   another one execs    0                     any               the same, except the one that execs: it waits
///
/// A thread that is in the system call exit ends alone, unless it is the last one. A filter of system calls (seccomp)
/// can end one thread by SIGSYS. In all other cases the process seems to end, and its threads are held in their exit
/// stops. If a missing thread is not being killed, then it was no end of the process, and the held threads are
/// released.
class endings {
 public:
  explicit endings(kernel_access kernel) : kernel_(kernel) {}

  /// A signal is about to be delivered to the thread.
  void on_signal(const traced_process& process, traced_thread& thread, int signal);
  /// The thread has come to its exit stop. Sets traced_process::ending if its process seems to end.
  void on_exit_stop(traced_process& process, traced_thread& thread) const;

  /// Whether process_ending must be reported as soon as no thread is missing.
  [[nodiscard]] static bool is_due(const traced_process& process) {
    return process.ending && !process.ending->reported && !process.killed;
  }
  /// The event. No later call is due.
  [[nodiscard]] process_ending take(traced_process& process) const;

  /// When `is_refuted` is to be called next.
  [[nodiscard]] static deadline next_look(const traced_process& process) {
    return process.ending ? process.ending->look_at : no_deadline;
  }
  /// Looks at the missing threads. True: one of them is not being killed, so that the process does not end.
  [[nodiscard]] bool is_refuted(traced_process& process) const;

 private:
  [[nodiscard]] bool lives_on(traced_process& process, traced_thread& thread) const;

  kernel_access kernel_;
  std::uint64_t turns_ = 0;  ///< of signals
};

}  // namespace mpiacq::tracing
