// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "mpiacq/base/time_limit.hpp"

namespace mpiacq::watching {

/// The looks that follow one after the other when a job seems to stand still: a program that does nothing but repeat
/// one call is outside it in one of a few hundred looks at a rank.
[[nodiscard]] constexpr std::size_t looks_before_report(std::size_t ranks) {
  constexpr std::size_t looks_at_ranks = 2000, fewest = 20, most = 200;
  return std::clamp(looks_at_ranks / std::max<std::size_t>(ranks, 1), fewest, most);
}
inline constexpr std::chrono::milliseconds between_those_looks{5};
/// On a busy machine each look takes long: then fewer are taken within this time, so that a hang is reported in time.
[[nodiscard]] constexpr clock::duration time_for_those_looks(clock::duration hang) {
  return hang / 4;
}
inline constexpr std::size_t looks_in_any_case = 5;

/// The time to the next look, if no rank has moved for `still`: a tenth of `hang`, and in the second half of `hang` a
/// fortieth. Bounded, so that a short `hang` costs little and a long one is noticed in time.
[[nodiscard]] inline clock::duration time_to_next_look(clock::duration hang, clock::duration still,
                                                       clock::duration rarest) {
  constexpr clock::duration shortest = std::chrono::milliseconds(100);
  const clock::duration wanted = still < hang / 2 ? hang / 10 : hang / 40;
  return std::clamp(wanted, std::min(shortest, rarest), rarest);
}

}  // namespace mpiacq::watching
