// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/job_view_agents.hpp"

#include <utility>

#include "far_visits.hpp"

namespace mpiacq {

result<job_view> look_at_job(process_id named, const look_options& options, deadline until,
                             const agents_options& agents) {
  agents_options start = agents;
  if (start.job_id.empty()) start.job_id = slurm_job_of(named).value_or("");
  mpi2dd::walk_limits limits;
  limits.table = options.limits;
  agents::far_visits far(start, limits);
  look_options how = options;
  how.read_elsewhere = [&far](std::vector<mpi2dd::process_request> asked) { return far.read(std::move(asked)); };
  return look_at_job(named, how, until);
}

}  // namespace mpiacq
