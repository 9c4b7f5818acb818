// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "event_queue.hpp"

#include <algorithm>
#include <cerrno>

#include <sys/eventfd.h>
#include <unistd.h>

namespace mpiacq::tracing {

result<std::unique_ptr<event_queue>> event_queue::create() {
  unique_fd ready{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  if (!ready) return fail(error{error_code::system, "no eventfd for the tracer's events"}.with_errno(errno));
  return std::unique_ptr<event_queue>(new event_queue(std::move(ready)));
}

void event_queue::push(process_event event) {
  const std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  if (events_.size() == 1) {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(ready_.get(), &one, sizeof one));  // cannot block nor overflow: it is 0 now
  }
  changed_.notify_all();
}

bool event_queue::has_any_of(process_id process) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(events_.begin(), events_.end(), [&](const process_event& e) { return e.process == process; });
}

void event_queue::set_source_dry(bool dry) {
  const std::lock_guard lock(mutex_);
  dry_ = dry;
  changed_.notify_all();
}

result<std::optional<process_event>> event_queue::wait(deadline until) {
  std::unique_lock lock(mutex_);
  if (until == no_deadline) {
    changed_.wait(lock, [&] { return !events_.empty() || dry_; });
    if (events_.empty()) return fail(error_code::invalid_argument, "nothing is traced, so nothing can be waited for");
  } else if (!changed_.wait_until(lock, until, [&] { return !events_.empty(); })) {
    return std::nullopt;
  }
  process_event first = std::move(events_.front());
  events_.pop_front();
  if (events_.empty()) {
    std::uint64_t count = 0;
    static_cast<void>(!::read(ready_.get(), &count, sizeof count));
  }
  return first;
}

}  // namespace mpiacq::tracing
