// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/job/job_view_agents.hpp"

#include "remote/remote_table_reader.hpp"

namespace mpiacq {

result<job_view> look_at_job(process_id named, const look_options& options, deadline until,
                             const agents_options& agents) {
  mpi2dd::walk_limits limits;
  limits.table = options.limits;
  agents::remote_table_reader far(named, agents, limits, options.debug_files.folders);
  look_options how = options;
  how.read_elsewhere = far.reader();
  return look_at_job(named, how, until);
}

}  // namespace mpiacq
