// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "limit_descriptor.hpp"

#include <algorithm>
#include <array>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

namespace mpiacq {

namespace {

/// The steady clock is CLOCK_MONOTONIC. A timer that is set to 0 would never expire.
base::unique_fd timer_until(deadline by) {
  base::unique_fd timer{::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)};
  if (!timer) return timer;
  const auto since = std::max<std::chrono::nanoseconds>(by.time_since_epoch(), std::chrono::nanoseconds(1));
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  itimerspec when{};
  when.it_value.tv_sec = seconds.count();
  when.it_value.tv_nsec = (since - seconds).count();
  if (::timerfd_settime(timer.get(), TFD_TIMER_ABSTIME, &when, nullptr) != 0) timer.reset();
  return timer;
}

bool add(const base::unique_fd& both, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  return ::epoll_ctl(both.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

limit_descriptor::limit_descriptor(const time_limit& limit) : stop_(limit.stop) {
  if (limit.by == no_deadline) return;
  timer_ = timer_until(limit.by);
  if (!timer_ || stop_ < 0) return;
  both_ = base::unique_fd{::epoll_create1(EPOLL_CLOEXEC)};
  if (both_ && add(both_, timer_.get()) && add(both_, stop_)) return;
  both_.reset();
  timer_.reset();
}

bool is_stopped_within(std::chrono::milliseconds time, int stop) {
  pollfd one{stop, POLLIN, 0};
  return ::poll(&one, 1, static_cast<int>(std::max(time, std::chrono::milliseconds(0)).count())) > 0;
}

}  // namespace mpiacq
