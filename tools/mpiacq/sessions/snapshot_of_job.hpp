// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "mpiacq/job/job_description.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "report/rank_hosts.hpp"

namespace mpiacq::tool {

/// Fills in what the snapshots of stacks and of queues say of their job.
template <class Snapshot>
void describe_job_in(Snapshot& snapshot, const job_description& job, const rank_selection& selection) {
  const process_table& table = *job.processes;
  snapshot.starter = job.starter;
  snapshot.origin = {job.source, job.launcher};
  snapshot.names = table.names();
  snapshot.hosts = rank_hosts(table, selection);
  snapshot.worlds.assign(table.worlds().begin(), table.worlds().end());
}

/// The entries of the process table that the group reads.
[[nodiscard]] inline rank_set entries_of(const rank_group& ranks) {
  rank_set entries;
  for (const rank_process& rank : ranks.ranks()) entries.add(rank.entry);
  return entries;
}

}  // namespace mpiacq::tool
