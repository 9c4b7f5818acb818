// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/job_graph.hpp"
#include "mpiacq/ranks/job_ranks.hpp"

namespace mpiacq {

/// `look_at_graph` over all nodes: processes of other hosts are read by an agent on each (docs/agents.md), which is
/// started when the walk first meets the host. Where agents have no Slurm job to be started in, `agents.job_id` is
/// taken from the process that was named. A host that is not reached has its reason in `job_graph::others` and in the
/// failure of each of its processes; what is wrong with one process is that process's failure alone.
/// `agents.everywhere` means nothing here: the process that was named is of this node.
///
/// Thread: any; callbacks are called on the caller's. Errors: as `look_at_graph`.
[[nodiscard]] result<job_graph> look_at_graph(process_id named, const graph_options& options,
                                              const agents_options& agents);

}  // namespace mpiacq
