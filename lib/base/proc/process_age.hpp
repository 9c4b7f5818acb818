// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace mpiacq {

/// How long ago a process started; `start_time` as in `process_stat`. Zero if the clock or the unit is not known.
[[nodiscard]] std::chrono::milliseconds age_of(std::uint64_t start_time);

}  // namespace mpiacq
