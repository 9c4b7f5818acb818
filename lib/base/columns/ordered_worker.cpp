// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "columns/ordered_worker.hpp"

#include <system_error>
#include <utility>

#include "helper/all_signals_blocked.hpp"

namespace mpiacq {

ordered_worker::ordered_worker(bool wanted) {
  if (!wanted || std::thread::hardware_concurrency() < 2) return;
  const base::all_signals_blocked blocked;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    // No thread can be started, so `add` runs the tasks itself.
  }
}

ordered_worker::~ordered_worker() {
  if (!has_thread()) return;
  {
    const std::scoped_lock guard{lock_};
    ending_ = true;
  }
  added_.notify_one();
  thread_.join();
}

void ordered_worker::add(std::function<void()> task) {
  if (!has_thread()) return task();
  wait_until_fewer_than(buffers - 1);
  {
    const std::scoped_lock guard{lock_};
    tasks_.push_back(std::move(task));
  }
  added_.notify_one();
}

void ordered_worker::finish() {
  if (has_thread()) wait_until_fewer_than(1);
}

void ordered_worker::wait_until_fewer_than(std::size_t tasks) {
  std::unique_lock guard{lock_};
  done_.wait(guard, [&] { return tasks_.size() < tasks; });
  if (failure_) std::rethrow_exception(failure_);
}

void ordered_worker::run() {
  std::unique_lock guard{lock_};
  while (true) {
    added_.wait(guard, [this] { return ending_ || !tasks_.empty(); });
    if (ending_) return;
    const auto& task = tasks_.front();  // references stay valid while others are added
    if (!failure_) {
      guard.unlock();
      std::exception_ptr thrown;
      try {
        task();
      } catch (...) {
        thrown = std::current_exception();
      }
      guard.lock();
      failure_ = thrown;
    }
    tasks_.pop_front();
    done_.notify_one();
  }
}

}  // namespace mpiacq
