// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Answers questions about the ranks of a node with `node_ranks`.
#pragma once

#include <vector>

#include "mpiacq/ranks/agent.hpp"
#include "node/rank_worker.hpp"

namespace mpiacq::agents {

/// Makes an answerer with a `node_ranks` of these ranks. If that fails, each answer is this error for each rank.
[[nodiscard]] answerer node_answers(std::vector<rank_process> ranks, const agent_programs& programs);

}  // namespace mpiacq::agents
