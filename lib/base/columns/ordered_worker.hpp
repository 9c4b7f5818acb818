// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace mpiacq {

/// Runs tasks one after the other on a second thread, while the caller prepares the next ones. All signals are blocked
/// on that thread, so that it handles none of the host program's signals. If no thread can be started, `add` runs the
/// task itself. Thread: one caller.
class ordered_worker {
 public:
  /// The number of buffers for a caller that fills one per task and passes it along: when `add` returns, the buffer of
  /// the task that was added this many tasks ago is no longer in use.
  static constexpr std::size_t buffers = 3;

  /// Starts the thread if `wanted`, and if the machine has a second processor for it.
  explicit ordered_worker(bool wanted);
  /// Drops the tasks that have not begun, and waits for the running one.
  ~ordered_worker();
  ordered_worker(const ordered_worker&) = delete;
  ordered_worker& operator=(const ordered_worker&) = delete;

  [[nodiscard]] bool has_thread() const { return thread_.joinable(); }
  /// Waits until fewer than `buffers - 1` tasks are unfinished, and adds this one. Throws the exception of an earlier
  /// task; the tasks after that one do not run.
  void add(std::function<void()> task);
  /// Waits until all tasks are done. Throws the exception of a task.
  void finish();

 private:
  void run();
  void wait_until_fewer_than(std::size_t tasks);

  std::mutex lock_;
  std::condition_variable added_;
  std::condition_variable done_;
  std::deque<std::function<void()>> tasks_;  // the first one is running
  std::exception_ptr failure_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace mpiacq
