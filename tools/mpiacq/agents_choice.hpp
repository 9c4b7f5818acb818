// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Whether ranks of other nodes are looked at, and through agents that are started how.
#pragma once

#include <optional>

#include "mpiacq/job_ranks.hpp"
#include "mpiacq/job_view.hpp"
#include "mpiacq/rank_selection.hpp"

namespace mpiacq::tool {

/// Empty: all of these ranks are looked after here, or nobody was to start anything. `wanted`: what the user said;
/// automatic starts agents where the job is Slurm's and has ranks elsewhere. `stop` ends waiting for them.
[[nodiscard]] std::optional<agents_options> agents_for(const job_view& job, const rank_selection& ranks,
                                                       agent_start wanted, int stop);

/// Says of each node that is not reached why, on standard error.
void complain_of_nodes(const job_ranks& ranks);

}  // namespace mpiacq::tool
