// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/session_wait.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <poll.h>

namespace mpiacq::tool {

namespace {
constexpr double longest_timeout = 1e9;  // seconds; more than a clock can add is the same as for ever
}  // namespace

deadline deadline_after(std::optional<double> seconds) {
  if (!seconds || *seconds >= longest_timeout) return no_deadline;
  return clock::now() + std::chrono::microseconds(std::llround(*seconds * 1e6));
}

bool stopped_within(std::chrono::milliseconds time, int stop) {
  const deadline until = clock::now() + time;
  pollfd source{stop, POLLIN, 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
    if (::poll(&source, 1, static_cast<int>(std::max<long long>(left, 0))) > 0) return true;
    if (left <= 0) return false;
  }
}

void wait_for_either(const job& subject, const signal_catcher& signals, const rank_commands* commands, int other,
                     deadline until) {
  until = std::min(until, subject.wake_at());
  int milliseconds = -1;
  if (until != no_deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
    milliseconds = static_cast<int>(std::clamp<long long>(left, 0, 60'000));
  }
  std::vector<pollfd> sources{
      {subject.event_descriptor(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}, {other, POLLIN, 0}};
  if (commands != nullptr) commands->add_to(sources);
  (void)::poll(sources.data(), sources.size(), milliseconds);
}

}  // namespace mpiacq::tool
