// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <sys/types.h>

#include "kernel/proc_files.hpp"
#include "kernel/wait_status.hpp"

namespace mpiacq::tracing {

/// A task changed its state.
struct task_report {
  pid_t task;
  wait_status status;
};

/// All waits of the room go through this class. It belongs to the tracer server, whose only children are the processes
/// that it traces or has launched.
class waiter {
 public:
  /// SIGCHLD must be blocked, not ignored, and sent for stops too (no SA_NOCLDSTOP).
  [[nodiscard]] static result<waiter> create();

  /// The descriptor that is readable when something may have changed since `next` was last empty.
  [[nodiscard]] int descriptor() const { return signals_.get(); }
  /// Call it when the descriptor is readable, before `next`.
  void drain();
  /// Makes the descriptor readable.
  static void look_again();
  /// False: only ends make the descriptor readable, and the caller asks afterwards for the tasks that have stopped
  /// meanwhile.
  static void signal_stops(bool wanted);
  /// Whether the descriptor is readable.
  [[nodiscard]] static bool is_signalled();
  /// The next change of any task; empty if there is none yet.
  [[nodiscard]] std::optional<task_report> next();
  /// The next change of one task.
  [[nodiscard]] static std::optional<task_report> next_of(pid_t task);
  /// Waits for the end of one child that is not traced, or is known to end.
  static void reap(pid_t child);
  /// Whether `next` can never return anything again: there is no child, and no task is traced, not even one that the
  /// kernel has attached at its birth and that has not reported yet.
  [[nodiscard]] static bool has_no_task();
  /// Collects the end of one task, if it has ended. A stop of the task is left for `next`.
  [[nodiscard]] static bool take_end_of(pid_t task);
  /// Whether `next` would return a change of this task.
  [[nodiscard]] static bool has_news_of(pid_t task);

 private:
  explicit waiter(unique_fd signals) : signals_(std::move(signals)) {}
  unique_fd signals_;
};

}  // namespace mpiacq::tracing
