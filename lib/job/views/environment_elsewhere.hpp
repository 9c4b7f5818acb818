// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "elsewhere_ranks.hpp"
#include "environment_jobs.hpp"
#include "mpiacq/job/job_description.hpp"

namespace mpiacq {

/// Whether a world of the job has ranks on other nodes, as far as its size is known.
[[nodiscard]] bool has_ranks_elsewhere(const environment_job& job);

/// The rows of the table: the ranks of this node, and those that agents have found on others. What an agent says is
/// checked: a world and a number that the job has, a possible pid, each rank once. `problems`: what was left out.
struct completed_ranks {
  std::vector<table_row> rows;  ///< in the order of worlds and ranks; their texts are those of the arguments
  std::vector<bool> is_here;    ///< for each row
};
[[nodiscard]] completed_ranks rows_with(const environment_job& job, const std::string& host,
                                        const elsewhere_ranks& found, std::vector<error>& problems);

/// Completes the description of a job by the ranks of other nodes, which agents look for as `options` say. If the
/// options name no hosts, the agents look on `seen_hosts` and on the hosts that the launcher's processes name. Without
/// agents, or without hosts, the description's problems name the missing ranks and the places where they may be.
void complete_by_agents(job_description& described, environment_jobs& jobs, const environment_job& job,
                        const find_options& options, const std::vector<std::string>& seen_hosts);

}  // namespace mpiacq
