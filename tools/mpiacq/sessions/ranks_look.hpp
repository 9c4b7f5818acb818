// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The first steps of the commands that look at a job's ranks from outside (`stacks`, `queues`).
#pragma once

#include <memory>

#include <tl/expected.hpp>

#include "commands/signals.hpp"
#include "mpiacq/job/job_description.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "options/rank_options.hpp"

namespace mpiacq::tool {

/// The job, and its chosen ranks.
struct ranks_look {
  job_description job;
  rank_selection selection;
  std::shared_ptr<rank_group> ranks;  ///< of all nodes if there are agents
};

/// Waits for the job's table as long as the options say. A choice by a communicator reads the queues of all ranks; a
/// signal ends that. Prints which nodes have no agent. Error: the exit status, and the reason has been printed.
[[nodiscard]] tl::expected<ranks_look, int> look_for_ranks(const observation_options& options, signal_catcher& signals);

/// The status of a command that a signal ended.
[[nodiscard]] constexpr int status_by_signal(int number) {
  return 128 + number;
}

}  // namespace mpiacq::tool
