// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpiacq/job/job.hpp"
#include "proc/proc_text.hpp"

namespace mpiacq {

/// The state of a rank of this node that this program does not hold.
[[nodiscard]] constexpr rank_state seen_state(run_state now) {
  switch (now) {
    case run_state::running:
      return rank_state::running;
    case run_state::stopped:
    case run_state::traced:
      return rank_state::stopped;
    case run_state::unknown:
      return rank_state::unknown;
    case run_state::gone:
      break;
  }
  return rank_state::gone;
}

}  // namespace mpiacq
