// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "side_by_side.hpp"

#include <algorithm>
#include <csignal>
#include <system_error>
#include <utility>

namespace mpiacq {

side_by_side::side_by_side(std::size_t count, std::size_t threads, std::function<void(std::size_t)> work)
    : count_(count), work_(std::move(work)) {
  // Threads inherit the mask.
  sigset_t all, before;
  sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  while (threads_.size() < std::min(threads, count)) {
    try {
      threads_.emplace_back([this] { run(); });
    } catch (const std::system_error&) {
      break;  // those that there are will do
    }
  }
  (void)pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

side_by_side::~side_by_side() {
  for (std::thread& thread : threads_) thread.join();
}

void side_by_side::run() {
  std::unique_lock guard(lock_);
  while (next_ < count_) {
    const std::size_t mine = next_++;
    guard.unlock();
    work_(mine);
    guard.lock();
    done_.push_back(mine);
    more_.notify_one();
  }
}

std::vector<std::size_t> side_by_side::take_done() {
  if (threads_.empty()) run();
  std::unique_lock guard(lock_);
  more_.wait(guard, [this] { return !done_.empty() || told_ == count_; });
  told_ += done_.size();
  return std::exchange(done_, {});
}

}  // namespace mpiacq
