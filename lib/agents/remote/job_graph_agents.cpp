// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/job/job_graph_agents.hpp"

#include "remote/remote_table_reader.hpp"

namespace mpiacq {

result<job_graph> look_at_graph(process_id named, const graph_options& options, const agents_options& agents) {
  agents::remote_table_reader far(named, agents, options.walk.limits, options.debug_files.folders);
  graph_options how = options;
  how.walk.read_elsewhere = far.reader();
  auto seen = look_at_graph(named, how);
  if (seen) seen->others = far.hosts();
  return seen;
}

}  // namespace mpiacq
