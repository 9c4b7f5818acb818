// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

/// Waits before the next look at a job from outside, at most until `until`. A job that is not controlled reports no
/// change of its table, so a look is repeated after some time.
inline void wait_before_the_next_look(deadline until) {
  constexpr std::chrono::milliseconds between_looks{20};
  std::this_thread::sleep_for(std::min<clock::duration>(between_looks, until - clock::now()));
}

}  // namespace mpiacq
