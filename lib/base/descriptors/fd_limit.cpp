// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "descriptors/fd_limit.hpp"

#include <algorithm>

#include <sys/resource.h>

namespace mpiacq::base {

std::optional<fd_limit> raise_fd_limit(std::size_t wanted) {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return std::nullopt;
  const rlimit more{std::max(now.rlim_cur, std::min<rlim_t>(now.rlim_max, wanted)), now.rlim_max};
  if (more.rlim_cur == now.rlim_cur || ::setrlimit(RLIMIT_NOFILE, &more) != 0)
    return fd_limit{now.rlim_cur, now.rlim_cur};
  return fd_limit{now.rlim_cur, more.rlim_cur};
}

void change_fd_limit(std::size_t from, std::size_t to) {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0 || now.rlim_cur != from) return;
  now.rlim_cur = std::min<rlim_t>(to, now.rlim_max);
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &now));
}

}  // namespace mpiacq::base
