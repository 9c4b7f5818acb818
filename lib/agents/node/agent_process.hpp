// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The agent of a node, whatever answers for its ranks.
#pragma once

#include "mpiacq/ranks/agent.hpp"
#include "node/rank_worker.hpp"

namespace mpiacq::agents {

/// As `mpiacq::run_agent`, which is this with the node's own processes (`node_answers`).
[[nodiscard]] result<void> run_agent(const agent_order& order, answering_for answers, int stop);

}  // namespace mpiacq::agents
