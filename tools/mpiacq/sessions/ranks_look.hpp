// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The first steps of the commands that look at a job's ranks from outside (`stacks`, `queues`).
#pragma once

#include "commands/signals.hpp"
#include "mpiacq/job/job_description.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "options/rank_options.hpp"

namespace mpiacq::tool {

/// The job, and its chosen ranks.
struct ranks_look {
  debug_file_search search;
  rank_selection ranks;
  job_description job;
};

/// Waits for the job's table as long as the options say. A choice by a communicator reads the queues of all ranks; a
/// signal ends that. Errors: those of `job::find` and `ranks_of`.
[[nodiscard]] result<ranks_look> look_for_ranks(process_id named, const observation_options& options,
                                                const signal_catcher& signals);

/// The status of a command that a signal ended.
[[nodiscard]] constexpr int status_by_signal(int number) {
  return 128 + number;
}
/// The status of a command that failed in `look_for_ranks`.
[[nodiscard]] int status_without_ranks(signal_catcher& signals);

}  // namespace mpiacq::tool
