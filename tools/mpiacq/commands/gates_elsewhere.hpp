// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Ranks of other nodes that wait at a gate until a tool lets them go (MPIR 1.1, chapter 8, step 18; MPI2DD_FLAG_GATE).
#pragma once

#include <memory>

#include "commands/agents_choice.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "report/job_reporter.hpp"

namespace mpiacq::tool {

/// For one event of a job. Agents open such gates where the user has asked for agents, or for a look that starts them.
class gates_elsewhere {
 public:
  /// Before the report of the event: starts the agents, where there are such gates. Where nobody opens them, the
  /// report names the ranks and says what to do. All other agents end.
  gates_elsewhere(job& subject, agents_of_job& agents, job_reporter& reporter);
  /// After the job was let run: opens them, says of which ranks that was not possible, and ends the agents.
  void open();

 private:
  job& job_;
  agents_of_job& agents_;
  job_reporter& reporter_;
  rank_set far_;
  std::shared_ptr<rank_group> nodes_;  ///< null: this program opens no gates
};

}  // namespace mpiacq::tool
