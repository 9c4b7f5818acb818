// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "ends/end_signal.hpp"

#include <cstdint>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace mpiacq {

end_signal::end_signal(int events)
    : taken_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), both_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!taken_ || !both_) return;
  for (const int one : {taken_.get(), events}) {
    epoll_event what{};
    what.events = EPOLLIN;
    what.data.fd = one;
    if (one >= 0) (void)::epoll_ctl(both_.get(), EPOLL_CTL_ADD, one, &what);
  }
}

void end_signal::set() const {
  const std::uint64_t one = 1;
  static_cast<void>(!::write(taken_.get(), &one, sizeof one));
}

void end_signal::clear() const {
  std::uint64_t count = 0;
  static_cast<void>(!::read(taken_.get(), &count, sizeof count));
}

}  // namespace mpiacq
