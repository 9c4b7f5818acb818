// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/job_graph_agents.hpp"

#include <utility>

#include "far_visits.hpp"

namespace mpiacq {

result<job_graph> look_at_graph(process_id named, const graph_options& options, const agents_options& agents) {
  agents_options start = agents;
  if (start.job_id.empty()) start.job_id = slurm_job_of(named).value_or("");
  agents::far_visits far(start, options.walk.limits);
  graph_options how = options;
  how.walk.read_elsewhere = [&far](std::vector<mpi2dd::process_request> asked) { return far.read(std::move(asked)); };
  auto seen = look_at_graph(named, how);
  if (seen) seen->others = far.hosts();
  return seen;
}

}  // namespace mpiacq
