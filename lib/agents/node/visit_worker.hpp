// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/agent_messages.hpp"

namespace mpiacq::agents {

/// The part of a question that is for this agent.
[[nodiscard]] question own_part(const question& what, std::uint32_t agent);

/// Reads processes of this node, several at once. One whose tables would not fit into a message has that as its
/// failure.
[[nodiscard]] visits_part answer_to(const ask_visits& what);

}  // namespace mpiacq::agents
