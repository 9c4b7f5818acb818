// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/job_timers.hpp"

#include <algorithm>
#include <utility>

namespace mpiacq {

job_timers::job_timers(std::function<deadline()> now) : now_(std::move(now)) {
  due_.fill(no_deadline);
}

deadline job_timers::wake_at() const {
  return *std::min_element(due_.begin(), due_.end());
}

std::optional<job_timer> job_timers::take_due() {
  const deadline now = now_();
  const auto first = std::find_if(due_.begin(), due_.end(), [&](deadline due) { return due <= now; });
  if (first == due_.end()) return std::nullopt;
  *first = no_deadline;
  return static_cast<job_timer>(first - due_.begin());
}

}  // namespace mpiacq
