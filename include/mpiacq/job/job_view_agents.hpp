// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/job_view.hpp"
#include "mpiacq/ranks/job_ranks.hpp"

namespace mpiacq {

/// `look_at_job` over all nodes. One MPIR starter has the whole job's table, and no agent is started for it. The tables
/// of an MPI2DD job may be in processes of any host: an agent on each reads them (docs/agents.md), is started when the
/// first of them is met, and ends before this returns. Where agents have no Slurm job to be started in,
/// `agents.job_id` is taken from the process that was named. Of a host that is not reached, each process that has
/// tables there is one of the view's problems, with the reason. `agents.everywhere` means nothing here.
///
/// Thread: any; callbacks are called on the caller's. Errors: as `look_at_job`.
[[nodiscard]] result<job_view> look_at_job(process_id named, const look_options& options, deadline until,
                                           const agents_options& agents);

}  // namespace mpiacq
