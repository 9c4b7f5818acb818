// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "descriptor.hpp"

namespace mpiacq {

/// Does work(0) ... work(count - 1) on some threads, which take no signals of the host program's. Where the system
/// gives no thread at all, the caller's own does it.
class side_by_side {
 public:
  /// `work` must not throw.
  side_by_side(std::size_t count, std::size_t threads, std::function<void(std::size_t)> work);
  /// Waits for all of it.
  ~side_by_side();
  side_by_side(const side_by_side&) = delete;
  side_by_side& operator=(const side_by_side&) = delete;

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
  descriptor news_;  ///< readable while there is something in `done_`, or nothing will come
  std::vector<std::thread> threads_;
};

}  // namespace mpiacq
