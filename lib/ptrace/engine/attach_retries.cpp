// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/attach_retries.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

namespace mpiacq::tracing {

void attach_retries::add(pid_t process, clock::time_point now, attach_request request) {
  constexpr unsigned longest = 16;  // milliseconds
  const std::chrono::milliseconds pause{1 + std::random_device{}() % longest};
  all_.push_back({process, now + pause, std::move(request)});
}

std::vector<attach_retries::retry> attach_retries::take_due(clock::time_point now) {
  std::vector<retry> due;
  for (retry& one : std::exchange(all_, {})) (one.when <= now ? due : all_).push_back(std::move(one));
  return due;
}

std::vector<attach_retries::retry> attach_retries::take_all() {
  return std::exchange(all_, {});
}

deadline attach_retries::next() const {
  deadline first = no_deadline;
  for (const retry& one : all_) first = std::min(first, one.when);
  return first;
}

}  // namespace mpiacq::tracing
