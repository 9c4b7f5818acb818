// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include <sys/resource.h>

#include "descriptors/unique_fd.hpp"

namespace mpiacq::base {

/// Closes a descriptor that this program can do without, if fewer than 256 numbers are left above it. A program that
/// reads thousands of processes must not use up its descriptors only to save time.
[[nodiscard]] inline unique_fd if_plenty_are_left(unique_fd fd) {
  constexpr rlim_t kept_free = 256;
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur > 2 * kept_free;
  if (known && static_cast<rlim_t>(fd.get()) < limit.rlim_cur - kept_free) return fd;
  return {};
}

}  // namespace mpiacq::base
