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

/// Does work(0) ... work(count - 1) on some threads, which take no signals of the host program's. Where the system
/// gives no thread at all, the caller's own does it.
class worker_pool {
 public:
  /// `work` must not throw.
  worker_pool(std::size_t count, std::size_t threads, std::function<void(std::size_t)> work);
  /// Waits for all of it.
  ~worker_pool();
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  /// Waits until `take_done` has something to say, or `stop` can be read: false for that. `stop` is a descriptor; -1:
  /// none.
  [[nodiscard]] bool wait(int stop);
  /// Those that were done since the last time: waits for one at least. None: all have been told.
  [[nodiscard]] std::vector<std::size_t> take_done();
  /// What has not been begun will not be. Whoever destroys this then waits for what has.
  void begin_no_more();

 private:
  void run();
  /// `lock_` is held.
  void tell();
  std::size_t count_;
  std::function<void(std::size_t)> work_;
  std::mutex lock_;
  std::condition_variable more_;
  std::size_t next_ = 0;
  std::size_t told_ = 0;
  std::vector<std::size_t> done_;
  base::unique_fd news_;  ///< readable while there is something in `done_`, or nothing will come
  std::vector<std::thread> threads_;
};

}  // namespace mpiacq
