// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <sys/types.h>

#include "kernel/proc_files.hpp"

namespace mpiacq::tracing {

/// Questions of the engine's parts about tasks that are unknown, or whose state no wait reports.
class task_reader {
 public:
  task_reader() = default;
  virtual ~task_reader() = default;
  task_reader(const task_reader&) = delete;
  task_reader& operator=(const task_reader&) = delete;

  /// Empty if there is no such task.
  [[nodiscard]] virtual std::optional<task_status> status(pid_t task) const = 0;
  /// Whether the task is a thread of this process.
  [[nodiscard]] virtual bool is_thread_of(pid_t process, pid_t task) const = 0;
  /// The status with which the process ends, in the form of wait(2); 0 also if it is unknown (read_exit_code).
  [[nodiscard]] virtual int exit_code(pid_t process) const = 0;
  /// Whether the two tasks share their memory (kcmp(2)); empty if the kernel cannot tell.
  [[nodiscard]] virtual std::optional<bool> share_memory(pid_t one, pid_t other) const = 0;
};

/// The tasks of this machine, as /proc shows them.
class proc_task_reader final : public task_reader {
 public:
  [[nodiscard]] std::optional<task_status> status(pid_t task) const override { return read_task_status(task); }
  [[nodiscard]] bool is_thread_of(pid_t process, pid_t task) const override {
    return tracing::is_thread_of(process, task);
  }
  [[nodiscard]] int exit_code(pid_t process) const override { return read_exit_code(process); }
  [[nodiscard]] std::optional<bool> share_memory(pid_t one, pid_t other) const override {
    return tracing::share_memory(one, other);
  }
};

}  // namespace mpiacq::tracing
