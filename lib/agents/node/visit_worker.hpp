// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// An agent's answer to questions about MPI2DD processes.
#pragma once

#include "wire/agent_messages.hpp"

namespace mpiacq::agents {

/// The part of a question that concerns this agent.
[[nodiscard]] question own_part(const question& what, std::uint32_t agent);

/// Reads processes of this node, several at once. If the tables of a process do not fit into a message, its account is
/// that failure.
[[nodiscard]] visits_part answer_to(const ask_visits& what);

}  // namespace mpiacq::agents
