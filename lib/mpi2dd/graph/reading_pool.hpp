// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "tables/table_reading.hpp"

namespace mpiacq::mpi2dd {

/// Reads processes in parallel, and returns the readings in the order of the requests. A thread is started when there
/// is work for it, with all signals blocked. The threads end with the pool.
class reading_pool {
 public:
  /// `threads` includes the caller's thread, which also reads. Both references must outlive the pool.
  reading_pool(const opener& open, const walk_limits& limits, unsigned threads);
  ~reading_pool();
  reading_pool(const reading_pool&) = delete;
  reading_pool& operator=(const reading_pool&) = delete;

  void add(process_request asked);
  /// The next reading. Precondition: the pool is not empty.
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
  std::size_t window_;  // the largest number of readings that wait to be taken: their tables are large
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::condition_variable finished_;
  std::deque<job> jobs_;   // the front is taken next; pushing and popping do not move the other jobs
  std::size_t begun_ = 0;  // the number of begun jobs, counted from the front of jobs_
  bool ending_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace mpiacq::mpi2dd
