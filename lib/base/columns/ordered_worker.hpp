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

/// Does tasks one after the other on a second thread, while the caller prepares the next ones. All signals are blocked
/// in that thread: the host program's signals are not handled there. Where no thread can be started, `add` does the
/// task itself. Thread: one caller.
class ordered_worker {
 public:
  /// How many buffers a caller needs that fills one and hands it over with each task: when `add` returns, the buffer
  /// that was handed over this many tasks ago is no longer in use.
  static constexpr std::size_t buffers = 3;

  /// Starts the thread if `wanted`, and if the machine has a processor for it.
  explicit ordered_worker(bool wanted);
  /// Drops the tasks that have not begun, and waits for the one that has.
  ~ordered_worker();
  ordered_worker(const ordered_worker&) = delete;
  ordered_worker& operator=(const ordered_worker&) = delete;

  [[nodiscard]] bool has_thread() const { return thread_.joinable(); }
  /// Waits until fewer than `buffers - 1` tasks are unfinished, and adds this one. Throws what an earlier task threw;
  /// the tasks after that one are not done.
  void add(std::function<void()> task);
  /// Waits until all tasks are done. Throws what one of them threw.
  void finish();

 private:
  void run();
  void wait_until_fewer_than(std::size_t tasks);

  std::mutex lock_;
  std::condition_variable added_;
  std::condition_variable done_;
  std::deque<std::function<void()>> tasks_;  // the first one is being done
  std::exception_ptr failure_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace mpiacq
