// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "session_wait.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <poll.h>

namespace mpiacq::tool {

namespace {
constexpr double longest_timeout = 1e9;  // seconds; more than a clock can add is the same as for ever
}  // namespace

deadline deadline_after(std::optional<double> seconds) {
  if (!seconds || *seconds >= longest_timeout) return no_deadline;
  return clock::now() + std::chrono::microseconds(std::llround(*seconds * 1e6));
}

void wait_for_either(const job& subject, const signal_catcher& signals, deadline until) {
  until = std::min(until, subject.wake_at());
  int milliseconds = -1;
  if (until != no_deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
    milliseconds = static_cast<int>(std::clamp<long long>(left, 0, 60'000));
  }
  std::array<pollfd, 2> sources{pollfd{subject.event_descriptor(), POLLIN, 0}, pollfd{signals.descriptor(), POLLIN, 0}};
  (void)::poll(sources.data(), sources.size(), milliseconds);
}

}  // namespace mpiacq::tool
