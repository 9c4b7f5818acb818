// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpiacq/job/rank_names.hpp"
#include "mpiacq/ranks/job_watch.hpp"

namespace mpiacq::tool {

/// What the ranks do that wait in no call, and which ranks were not looked at, to follow a verdict: "; rank 3 has been
/// computing in solve() for 120 s". Ranks that do the same are named together, with the shortest time. Empty if all
/// ranks wait. It contains names from the ranks as they are: escape it before you print it.
[[nodiscard]] std::string standing_text(const job_stands_still& job, const rank_names& names);

}  // namespace mpiacq::tool
