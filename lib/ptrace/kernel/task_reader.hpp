// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <sys/types.h>

#include "kernel/proc_files.hpp"

namespace mpiacq::tracing {

/// What the parts of the engine ask about tasks that they do not know, or whose state no wait tells.
class task_reader {
 public:
  task_reader() = default;
  virtual ~task_reader() = default;
  task_reader(const task_reader&) = delete;
  task_reader& operator=(const task_reader&) = delete;

  /// Empty where there is no such task.
  [[nodiscard]] virtual std::optional<task_status> status(pid_t task) const = 0;
  /// The task is a thread of this process.
  [[nodiscard]] virtual bool is_thread_of(pid_t process, pid_t task) const = 0;
  /// The two tasks share their memory (kcmp(2)); empty where the kernel cannot say.
  [[nodiscard]] virtual std::optional<bool> share_memory(pid_t one, pid_t other) const = 0;
};

/// The tasks of this machine, as /proc shows them.
class proc_task_reader final : public task_reader {
 public:
  [[nodiscard]] std::optional<task_status> status(pid_t task) const override { return read_task_status(task); }
  [[nodiscard]] bool is_thread_of(pid_t process, pid_t task) const override {
    return tracing::is_thread_of(process, task);
  }
  [[nodiscard]] std::optional<bool> share_memory(pid_t one, pid_t other) const override {
    return tracing::share_memory(one, other);
  }
};

}  // namespace mpiacq::tracing
