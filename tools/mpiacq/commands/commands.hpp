// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "commands/command.hpp"

namespace mpiacq::tool {

extern const command jobs_command, stacks_command, queues_command, attach_command, launch_command, graph_command,
    check_command, inspect_command, types_command, report_command, watch_command;

/// In the order of the help.
inline constexpr std::array all_commands = {&jobs_command,   &report_command,  &watch_command,  &stacks_command,
                                            &queues_command, &attach_command,  &launch_command, &graph_command,
                                            &check_command,  &inspect_command, &types_command};

}  // namespace mpiacq::tool
