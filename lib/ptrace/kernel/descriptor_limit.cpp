// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "kernel/descriptor_limit.hpp"

#include <algorithm>

#include "descriptors/fd_limit.hpp"

namespace mpiacq::tracing {

namespace {

/// Enough for every process of a large node.
constexpr std::size_t enough = 8192;
constexpr std::size_t fewest = 16;

/// The limits before and after raise_descriptor_limit; empty if it raised nothing. Only one thread of the tracer server
/// uses them.
std::optional<base::fd_limit>& raised_limit() {
  static std::optional<base::fd_limit> limit;
  return limit;
}

}  // namespace

std::size_t raise_descriptor_limit() {
  const auto limit = base::raise_fd_limit(enough);
  if (!limit) return fewest;
  if (limit->now > limit->before && !raised_limit()) raised_limit() = limit;
  return std::clamp(limit->now, fewest, enough);
}

void restore_descriptor_limit() {
  if (raised_limit()) base::change_fd_limit(raised_limit()->now, raised_limit()->before);
}

}  // namespace mpiacq::tracing
