// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/time_limit.hpp"

namespace mpiacq {

/// A time limit as one descriptor to poll: it becomes readable when the deadline has passed or the caller has
/// cancelled. If this program has no descriptor left, only the cancellation counts.
class limit_descriptor {
 public:
  explicit limit_descriptor(const time_limit& limit);
  /// -1 if there is neither a deadline nor a cancellation.
  [[nodiscard]] int get() const { return both_.is_open() ? both_.get() : timer_.is_open() ? timer_.get() : stop_; }

 private:
  base::unique_fd timer_;
  base::unique_fd both_;
  int stop_ = -1;
};

/// Waits for `time`, or until `stop` is readable. Returns whether `stop` became readable; -1 as `stop` never does.
[[nodiscard]] bool is_stopped_within(std::chrono::milliseconds time, int stop);

}  // namespace mpiacq
