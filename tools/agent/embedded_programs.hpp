// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The programs inside the agent's file, so that no other file is needed on a node.
#pragma once

#include <string>

#include "mpiacq/ranks/agent.hpp"

namespace mpiacq::agent_program {

/// Copies the programs into memory files. Returns the paths by which they can be executed for as long as this process
/// lives. The path of a program that could not be copied is empty; the installed program is used instead.
[[nodiscard]] agent_programs unpack_programs();

}  // namespace mpiacq::agent_program
