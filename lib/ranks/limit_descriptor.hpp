// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/time_limit.hpp"

namespace mpiacq {

/// A time limit as one descriptor to poll: it can be read once the deadline has passed or the caller has cancelled.
/// Code that waits for work needs to know nothing else. Without enough descriptors, only the cancellation counts.
class limit_descriptor {
 public:
  explicit limit_descriptor(const time_limit& limit);
  /// -1: the limit never ends anything.
  [[nodiscard]] int get() const { return both_.is_open() ? both_.get() : timer_.is_open() ? timer_.get() : stop_; }

 private:
  base::unique_fd timer_;
  base::unique_fd both_;
  int stop_ = -1;
};

/// Waits so long, or until the descriptor can be read (-1: it never can): whether it can.
[[nodiscard]] bool is_stopped_within(std::chrono::milliseconds time, int stop);

}  // namespace mpiacq
