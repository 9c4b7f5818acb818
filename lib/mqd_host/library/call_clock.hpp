// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "mpiacq/queues/message_queues.hpp"

namespace mpiacq::mqd_host {

/// Measures the time of a library's calls from another process. A counter shows that one call has ended and another has
/// begun. A call counts from the moment when the clock first sees it. If the caller looks as often as
/// `milliseconds_to_look` asks, the clock is late by a quarter of the limit at most.
class call_clock {
 public:
  using time = std::chrono::steady_clock::time_point;
  using span = std::chrono::steady_clock::duration;
  enum class verdict : std::uint8_t { in_time, call_too_long, process_too_long };

  call_clock(const queue_limits& limits, time now)
      : call_limit_(limits.call_time), process_limit_(limits.process_time), begun_(now), call_begun_(now) {}

  [[nodiscard]] verdict look(std::uint64_t calls, time now) {
    if (calls != calls_) {
      calls_ = calls;
      call_begun_ = now;
    }
    if (now - begun_ >= process_limit_) return verdict::process_too_long;
    return now - call_begun_ >= call_limit_ ? verdict::call_too_long : verdict::in_time;
  }
  /// Excludes a span in which the tool itself was busy.
  void pause(span taken) {
    begun_ += taken;
    call_begun_ += taken;
  }
  /// Milliseconds until the next look at the latest, rounded up.
  [[nodiscard]] int milliseconds_to_look(time now) const {
    const span left = std::min({call_limit_ / 4, call_begun_ + call_limit_ - now, begun_ + process_limit_ - now});
    const auto whole = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    return static_cast<int>(std::clamp<std::int64_t>(whole, 1, 10'000));
  }

 private:
  span call_limit_;
  span process_limit_;
  time begun_;
  time call_begun_;
  std::uint64_t calls_ = 0;
};

}  // namespace mpiacq::mqd_host
