// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "tables/table_reading.hpp"

namespace mpiacq::mpi2dd {

/// Reads processes side by side, and hands the readings out in the order in which they were asked for. Threads are
/// begun when there is something to do for them, with all signals blocked; they end with the pool.
class reading_pool {
 public:
  /// `threads` counts the caller's own, which reads too. Both references must outlive the pool.
  reading_pool(const opener& open, const walk_limits& limits, unsigned threads);
  ~reading_pool();
  reading_pool(const reading_pool&) = delete;
  reading_pool& operator=(const reading_pool&) = delete;

  void add(process_request asked);
  /// The next one. Not of an empty pool.
  [[nodiscard]] process_account take();

 private:
  enum class stage : std::uint8_t { asked, begun, done };
  struct job {
    process_request asked;
    process_account said;
    stage at = stage::asked;
  };

  void begin_threads();
  void work();

  const opener& open_;
  const walk_limits& limits_;
  std::size_t max_workers_;
  std::size_t window_;  // so many readings may wait to be taken: their tables are large
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::condition_variable finished_;
  std::deque<job> jobs_;   // the front is the next to be taken; pushing and popping leave the others where they are
  std::size_t begun_ = 0;  // of jobs_, from the front
  bool ending_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace mpiacq::mpi2dd
