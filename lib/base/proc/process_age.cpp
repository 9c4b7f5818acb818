// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/process_age.hpp"

#include <algorithm>

#include <time.h>
#include <unistd.h>

namespace mpiacq {

std::chrono::milliseconds age_of(std::uint64_t start_time) {
  using std::chrono::milliseconds;
  constexpr std::int64_t in_a_second = 1000;
  static const std::int64_t ticks = ::sysconf(_SC_CLK_TCK);
  timespec now{};
  // The kernel counts the start of a process on the clock that includes suspension (fs/proc/array.c).
  if (ticks <= 0 || ::clock_gettime(CLOCK_BOOTTIME, &now) != 0) return milliseconds{0};
  const auto since_boot = std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
  constexpr std::uint64_t most_ticks = INT64_MAX / in_a_second;
  const std::int64_t started = static_cast<std::int64_t>(std::min(start_time, most_ticks)) * in_a_second / ticks;
  const auto age = std::chrono::duration_cast<milliseconds>(since_boot) - milliseconds{started};
  return std::max(age, milliseconds{0});
}

}  // namespace mpiacq
