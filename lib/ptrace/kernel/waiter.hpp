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

/// All waiting of the room. It belongs to the tracing process, which has no other children than those that it traces or
/// launched.
class waiter {
 public:
  /// SIGCHLD must be blocked, and neither ignored nor without stops (SA_NOCLDSTOP), or none comes.
  [[nodiscard]] static result<waiter> create();

  /// Readable when something may have changed since `next` was last empty.
  [[nodiscard]] int descriptor() const { return signals_.get(); }
  /// To be called when the descriptor is readable, before `next`.
  void drain();
  /// Makes the descriptor readable.
  static void look_again();
  /// Where they are not wanted, only ends make the descriptor readable, and whoever has stopped meanwhile is to be
  /// asked for afterwards.
  static void signal_stops(bool wanted);
  /// The descriptor is readable.
  [[nodiscard]] static bool is_signalled();
  /// The next change, without waiting for it.
  [[nodiscard]] std::optional<task_report> next();
  /// The same of one task.
  [[nodiscard]] static std::optional<task_report> next_of(pid_t task);
  /// Waits for the end of one child that is not traced, or is known to end.
  static void reap(pid_t child);
  /// There is no task that `next` could ever tell of: none is traced, not even one of which nobody knows yet because
  /// the kernel has attached it at its birth, and there is no child.
  [[nodiscard]] static bool has_nobody();
  /// Takes the end of one task, where it has ended; a stop of it is left for `next`.
  [[nodiscard]] static bool take_end_of(pid_t task);
  /// `next` has something to tell of this task.
  [[nodiscard]] static bool has_news_of(pid_t task);

 private:
  explicit waiter(unique_fd signals) : signals_(std::move(signals)) {}
  unique_fd signals_;
};

}  // namespace mpiacq::tracing
