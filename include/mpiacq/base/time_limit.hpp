// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// How long a call may take.
#pragma once

#include <chrono>

namespace mpiacq {

/// The clock of all deadlines and durations.
using clock = std::chrono::steady_clock;
/// The moment at which a call stops waiting. With `no_deadline` it waits for ever.
using deadline = clock::time_point;
inline constexpr deadline no_deadline = deadline::max();

/// How long a call may take: until a deadline, or until the caller cancels it.
struct time_limit {
  /// No limit.
  time_limit() = default;
  /// A deadline and, in `cancel`, a descriptor that the caller keeps open during the call. The call ends early once the
  /// descriptor is readable; -1: there is none.
  // NOLINTNEXTLINE(google-explicit-constructor): a deadline alone is a limit.
  time_limit(deadline until, int cancel = -1) : by(until), stop(cancel) {}

  deadline by = no_deadline;  ///< the deadline
  int stop = -1;              ///< the descriptor that cancels the call; -1: none
};

/// A limit that begins now: `in(30s)`, `in(30s, descriptor)`.
[[nodiscard]] inline time_limit in(std::chrono::nanoseconds time, int cancel = -1) {
  return {clock::now() + std::chrono::duration_cast<clock::duration>(time), cancel};
}

}  // namespace mpiacq
