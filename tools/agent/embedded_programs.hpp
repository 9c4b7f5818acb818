// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Programs that this file carries in itself, so that nothing else has to be on a node.
#pragma once

#include <string>

#include "mpiacq/ranks/agent.hpp"

namespace mpiacq::agent_program {

/// Puts them into memory, and says as what they can be run from there for as long as this process lives. What cannot be
/// put there is left empty: then the installed one is looked for.
[[nodiscard]] agent_programs unpack_programs();

}  // namespace mpiacq::agent_program
