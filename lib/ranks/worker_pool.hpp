// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "descriptors/unique_fd.hpp"

namespace mpiacq {

/// Runs work(0) ... work(count - 1) on several threads, which block the host program's signals. If the system creates
/// no thread, the calling thread does the work.
class worker_pool {
 public:
  /// `work` must not throw.
  worker_pool(std::size_t count, std::size_t threads, std::function<void(std::size_t)> work);
  /// Waits for all of it.
  ~worker_pool();
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  /// Waits until `take_done` has news. Returns false if `stop` became readable first. `stop` is a descriptor; -1: none.
  [[nodiscard]] bool wait(int stop);
  /// The items finished since the last call; waits for at least one. Empty: all items have been returned.
  [[nodiscard]] std::vector<std::size_t> take_done();
  /// Starts no further items. The destructor waits for the items that have started.
  void begin_no_more();

 private:
  void run();
  /// Makes `wait` return. The caller holds `lock_`.
  void tell();
  std::size_t count_;
  std::function<void(std::size_t)> work_;
  std::mutex lock_;
  std::condition_variable more_;
  std::size_t next_ = 0;
  std::size_t told_ = 0;           ///< the number of items of `done_` that `take_done` has returned
  std::vector<std::size_t> done_;  ///< the finished items; has room for all, because a thread must not lack memory
  base::unique_fd news_;           ///< readable while `take_done` has items, or when all have been returned
  std::vector<std::thread> threads_;
};

/// Runs work(0) ... work(count - 1) on a thread for each processor, several items at a time, and waits for all. Few
/// items are done by the calling thread. `work` must not throw.
void on_all_processors(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace mpiacq
