// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "environment_jobs.hpp"

namespace mpiacq {

/// The host that a command line of ssh names; empty if it is none of ssh, or names none. `command_line`: words that end
/// with null bytes.
[[nodiscard]] std::optional<std::string> host_in_ssh_command(std::string_view command_line);

/// The hosts of a job as its launcher names them: in the list of nodes of Slurm, and in the commands of ssh that the
/// starter has started. The starter's user chooses these names, so each of them is only checked for its form. Each host
/// once, in order. What is wrong with a list is a problem.
[[nodiscard]] std::vector<std::string> launcher_hosts_of(environment_jobs& jobs, const environment_job& job,
                                                         std::vector<error>& problems);

}  // namespace mpiacq
