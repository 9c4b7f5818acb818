// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "background_work.hpp"

#include <csignal>
#include <system_error>

namespace mpiacq {

background_work::~background_work() {
  {
    const std::scoped_lock guard{lock_};
    ending_ = true;
  }
  more_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void background_work::add(std::function<void()> work) {
  const std::scoped_lock guard{lock_};
  waiting_.push_back(std::move(work));
  more_.notify_all();
  if (thread_.joinable()) return;
  // A thread is born with the mask of the one that makes it.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread{[this] { run(); }};
  } catch (const std::system_error&) {
    waiting_.clear();
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void background_work::run() {
  std::unique_lock guard{lock_};
  for (;;) {
    more_.wait(guard, [&] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    const auto work = std::move(waiting_.front());
    waiting_.pop_front();
    guard.unlock();
    work();
    guard.lock();
  }
}

}  // namespace mpiacq
