// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

namespace mpiacq::base {

/// The soft limit on the file descriptors of this process (RLIMIT_NOFILE).
struct fd_limit {
  std::size_t before = 0;
  std::size_t now = 0;
};

/// Raises the soft limit to `wanted`, or to the hard limit if that is lower. A higher limit stays. Empty if the limit
/// cannot be read.
std::optional<fd_limit> raise_fd_limit(std::size_t wanted);

/// Sets the soft limit to `to` if it is still `from`: a limit that other code has set meanwhile stays. May be called
/// between fork and exec.
void change_fd_limit(std::size_t from, std::size_t to);

}  // namespace mpiacq::base
