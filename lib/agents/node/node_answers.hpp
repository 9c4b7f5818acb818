// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the ranks of a node answer to questions, made of what `node_ranks` gives.
#pragma once

#include <vector>

#include "mpiacq/ranks/agent.hpp"
#include "node/rank_worker.hpp"

namespace mpiacq::agents {

/// Has a `node_ranks` of these ranks; where there can be none, the answer is that error for each of them.
[[nodiscard]] answerer node_answers(std::vector<rank_process> ranks, const agent_programs& programs);

}  // namespace mpiacq::agents
