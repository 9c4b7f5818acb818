// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

#include "limit_descriptor.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/time_limit.hpp"

namespace mpiacq {

/// Waits before the next look at a job that is only observed, no longer than the limit. Nothing tells an observer when
/// a table changes, so it waits by the clock. False: the caller has cancelled.
[[nodiscard]] inline bool wait_before_the_next_look(const time_limit& until) {
  constexpr std::chrono::milliseconds between_looks{20};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until.by - clock::now());
  return !is_stopped_within(std::min(between_looks, left), until.stop);
}

[[nodiscard]] inline error cancelled_look() {
  return {error_code::timed_out, "cancelled before the process table was complete"};
}

}  // namespace mpiacq
