// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "graph/reading_pool.hpp"

#include <algorithm>
#include <system_error>

#include "helper/all_signals_blocked.hpp"

namespace mpiacq::mpi2dd {

namespace {
constexpr std::size_t most_threads = 256;
}  // namespace

reading_pool::reading_pool(const opener& open, const walk_limits& limits, unsigned threads)
    : open_(open),
      limits_(limits),
      max_workers_(std::clamp<std::size_t>(threads, 1, most_threads) - 1),
      window_(4 * (max_workers_ + 1)) {}

reading_pool::~reading_pool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wanted_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void reading_pool::add(process_request asked) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back({std::move(asked), {}, stage::asked});
}

void reading_pool::begin_threads() {
  // The caller's thread does one of the jobs.
  while (workers_.size() < max_workers_ && workers_.size() + 1 < jobs_.size()) {
    const base::all_signals_blocked blocked;
    try {
      workers_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      max_workers_ = workers_.size();  // the system refuses more threads: the existing ones do the work
    }
  }
}

process_account reading_pool::take() {
  begin_threads();
  wanted_.notify_all();
  std::unique_lock lock(mutex_);
  job& first = jobs_.front();
  if (first.at == stage::asked) {
    first.at = stage::begun;
    ++begun_;
    lock.unlock();
    first.said = read_process(first.asked, open_, limits_);
    lock.lock();
    first.at = stage::done;
  }
  finished_.wait(lock, [&] { return first.at == stage::done; });
  process_account said = std::move(first.said);
  jobs_.pop_front();
  --begun_;
  return said;
}

void reading_pool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wanted_.wait(lock, [this] { return ending_ || begun_ < std::min(jobs_.size(), window_); });
    if (ending_) return;
    job& mine = jobs_[begun_++];
    mine.at = stage::begun;
    lock.unlock();
    process_account said = read_process(mine.asked, open_, limits_);
    lock.lock();
    mine.said = std::move(said);
    mine.at = stage::done;
    finished_.notify_one();
  }
}

std::vector<process_account> read_processes(std::vector<process_request> asked, const opener& open,
                                            const walk_limits& limits, unsigned threads) {
  std::vector<process_account> said;
  said.reserve(asked.size());
  reading_pool pool(open, limits, threads);
  for (process_request& one : asked) pool.add(std::move(one));
  while (said.size() < asked.size()) said.push_back(pool.take());
  return said;
}

}  // namespace mpiacq::mpi2dd
