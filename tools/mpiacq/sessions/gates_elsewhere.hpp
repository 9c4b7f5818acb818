// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Opens the gates of ranks of other nodes, which wait there until a tool opens them (MPIR 1.1, chapter 8, step 18;
// MPI2DD_FLAG_GATE).
#pragma once

#include <memory>

#include "commands/agents_choice.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "report/job_reporter.hpp"

namespace mpiacq::tool {

/// For one event of a job. Agents open such gates if the user has requested agents, or a look that starts them.
class gates_elsewhere {
 public:
  /// Before the report of the event: starts the agents, if there are such gates. If no tool opens the gates, the report
  /// names the ranks and the remedy. All other agents end.
  gates_elsewhere(job& subject, agents_of_job& agents, job_reporter& reporter);
  /// After the job was resumed: opens the gates, prints the ranks for which that failed, and ends the agents.
  void open();

 private:
  job& job_;
  agents_of_job& agents_;
  job_reporter& reporter_;
  rank_set far_;
  std::shared_ptr<rank_group> nodes_;  ///< null: this program opens no gates
};

}  // namespace mpiacq::tool
