// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/output_queue.hpp"

#include <cstdint>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include <sys/eventfd.h>
#include <unistd.h>

#include "helper/all_signals_blocked.hpp"
#include "report/report_stream.hpp"

namespace mpiacq::tool {

namespace {

constexpr std::size_t most_waiting = 1 << 20;  // bytes

}  // namespace

output_queue& the_output() {
  // The object is never destroyed: its thread may still wait for a reader when the program ends by `exit`.
  static auto* const queue = new output_queue;  // NOLINT(cppcoreguidelines-owning-memory)
  return *queue;
}

output_queue::output_queue() : room_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void output_queue::add(std::function<void()> task) {
  add(entry{std::move(task), 0});
}

void output_queue::write(int descriptor, std::string bytes) {
  const std::size_t size = bytes.size();
  add(entry{[descriptor, text = std::move(bytes)] { (void)!write_all(descriptor, text); }, size});
}

void output_queue::write_if_idle(int descriptor, std::string bytes) {
  {
    const std::lock_guard held(lock_);
    if (busy_ || !waiting_.empty()) return;
  }
  write(descriptor, std::move(bytes));
}

bool output_queue::has_room() {
  const std::lock_guard held(lock_);
  std::uint64_t count = 0;
  if (bytes_ < most_waiting) (void)!::read(room_event_, &count, sizeof count);
  return bytes_ < most_waiting;
}

void output_queue::note_failure() {
  failed_ = true;
}

void output_queue::add(entry next) {
  // If the system creates no thread, the text is written at once.
  if (!start()) return run_one(next);
  const std::lock_guard held(lock_);
  bytes_ += next.bytes;
  waiting_.push_back(std::move(next));
  changed_.notify_all();
}

bool output_queue::start() {
  const std::lock_guard held(lock_);
  if (has_thread_) return true;
  const base::all_signals_blocked blocked;
  try {
    std::thread([this] { run(); }).detach();
    has_thread_ = true;
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void output_queue::run_one(const entry& next) {
  try {
    next.task();
  } catch (const std::bad_alloc&) {
    (void)!write_all(STDERR_FILENO, "mpiacq: writing the report: out of memory\n");
    failed_ = true;
  }
}

void output_queue::run() {
  std::unique_lock held(lock_);
  for (;;) {
    changed_.wait(held, [&] { return !waiting_.empty(); });
    entry next = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    held.unlock();
    run_one(next);
    next.task = nullptr;  // what the task owns is destroyed before `drain` returns
    held.lock();
    const bool was_full = bytes_ >= most_waiting;
    bytes_ -= next.bytes;
    if (was_full && bytes_ < most_waiting) {
      const std::uint64_t one = 1;
      (void)!::write(room_event_, &one, sizeof one);
    }
    busy_ = false;
    changed_.notify_all();
  }
}

bool output_queue::drain() {
  std::unique_lock held(lock_);
  changed_.wait(held, [&] { return waiting_.empty() && !busy_; });
  return !failed_;
}

}  // namespace mpiacq::tool
