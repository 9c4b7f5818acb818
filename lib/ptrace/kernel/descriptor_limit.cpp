// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "kernel/descriptor_limit.hpp"

#include <algorithm>
#include <optional>

#include <sys/resource.h>

namespace mpiacq::tracing {

namespace {

/// Enough for every process of a large node.
constexpr rlim_t enough = 8192;

/// Of the tracing process, which has one thread that comes here. Set once the limit was raised.
std::optional<rlimit>& original() {
  static std::optional<rlimit> limit;
  return limit;
}

}  // namespace

std::size_t raise_descriptor_limit() {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return 16;
  const rlimit more{std::max(now.rlim_cur, std::min(now.rlim_max, enough)), now.rlim_max};
  if (more.rlim_cur > now.rlim_cur && ::setrlimit(RLIMIT_NOFILE, &more) == 0) {
    if (!original()) original() = now;
    now = more;
  }
  return static_cast<std::size_t>(std::clamp<rlim_t>(now.rlim_cur, 16, enough));
}

void restore_descriptor_limit() {
  if (original()) static_cast<void>(::setrlimit(RLIMIT_NOFILE, &*original()));
}

}  // namespace mpiacq::tracing
