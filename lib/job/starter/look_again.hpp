// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

/// Before the next look at a job that is looked at from outside, no longer than until `until`. Nothing tells who only
/// looks on when a table changes: it waits by the clock.
inline void wait_before_the_next_look(deadline until) {
  constexpr std::chrono::milliseconds between_looks{20};
  std::this_thread::sleep_for(std::min<clock::duration>(between_looks, until - clock::now()));
}

}  // namespace mpiacq
