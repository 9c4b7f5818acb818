// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Answers questions about the ranks of a node with `node_ranks`.
#pragma once

#include <functional>
#include <vector>

#include "mpiacq/base/time_limit.hpp"
#include "mpiacq/ranks/agent.hpp"
#include "node/rank_worker.hpp"

namespace mpiacq::agents {

/// Makes an answerer with a `node_ranks` of these ranks. If that fails, each answer is this error for each rank. Ranks
/// that are followed to their ends are let go when the front end has asked nothing for the hold limit. `now`: the time
/// from which the hold limit is counted.
[[nodiscard]] answerer node_answers(std::vector<rank_process> ranks, const agent_programs& programs,
                                    std::function<deadline()> now = clock::now);

}  // namespace mpiacq::agents
