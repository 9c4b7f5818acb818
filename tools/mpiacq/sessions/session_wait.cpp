// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/session_wait.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <poll.h>

namespace mpiacq::tool {

namespace {
constexpr double longest_timeout = 1e9;  // seconds: a clock cannot add much more
}  // namespace

deadline deadline_after(std::optional<double> seconds) {
  if (!seconds || *seconds >= longest_timeout) return no_deadline;
  return clock::now() + std::chrono::microseconds(std::llround(*seconds * 1e6));
}

int milliseconds_until(deadline until) {
  if (until == no_deadline) return -1;
  constexpr long long longest_poll = 60'000;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, longest_poll));
}

bool is_readable_by(deadline until, int descriptor) {
  pollfd source{descriptor, POLLIN, 0};
  for (;;) {
    const int left = milliseconds_until(until);
    if (::poll(&source, 1, left) > 0) return true;
    if (left == 0) return false;
  }
}

bool stopped_within(std::chrono::milliseconds time, int stop) {
  return is_readable_by(clock::now() + time, stop);
}

void wait_for_any(std::initializer_list<int> descriptors, deadline until) {
  std::vector<pollfd> sources;
  for (const int one : descriptors) sources.push_back({one, POLLIN, 0});
  (void)::poll(sources.data(), sources.size(), milliseconds_until(until));
}

void wait_for_either(const job& subject, const signal_catcher& signals, const rank_commands* commands, int other,
                     deadline until) {
  until = std::min(until, subject.wake_at());
  std::vector<pollfd> sources{
      {subject.event_descriptor(), POLLIN, 0}, {signals.descriptor(), POLLIN, 0}, {other, POLLIN, 0}};
  if (commands != nullptr) commands->add_to(sources);
  (void)::poll(sources.data(), sources.size(), milliseconds_until(until));
}

}  // namespace mpiacq::tool
