// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "code_names/background_work.hpp"

#include <exception>
#include <system_error>

#include "helper/all_signals_blocked.hpp"

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
  const base::all_signals_blocked blocked;
  try {
    thread_ = std::thread{[this] { run(); }};
  } catch (const std::system_error&) {
    waiting_.clear();
  }
}

void background_work::run() {
  std::unique_lock guard{lock_};
  for (;;) {
    more_.wait(guard, [&] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    const auto work = std::move(waiting_.front());
    waiting_.pop_front();
    guard.unlock();
    try {
      work();
    } catch (const std::exception&) {
      // The item has found no memory. A caller that needs its result looks it up again, and gets the error.
    }
    guard.lock();
  }
}

}  // namespace mpiacq
