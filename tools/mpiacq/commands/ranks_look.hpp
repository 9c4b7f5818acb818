// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the commands that look at a job's ranks from outside (`stacks`, `queues`) begin with.
#pragma once

#include <chrono>
#include <vector>

#include "commands/signals.hpp"
#include "mpiacq/job/job_description.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "options/rank_options.hpp"

namespace mpiacq::tool {

/// The job, and which of its ranks were chosen.
struct ranks_look {
  debug_file_search search;
  rank_selection ranks;
  job_description job;
};

/// Waits for the job's table as long as the options say. A choice by a communicator reads the queues of all ranks; a
/// signal ends that. Errors: those of `job::find` and `ranks_of`.
[[nodiscard]] result<ranks_look> look_for_ranks(process_id named, const observation_options& options,
                                                const signal_catcher& signals);

/// A selection of just these; all where there are none.
[[nodiscard]] rank_selection selection_of(std::vector<entry_index> ranks);

/// A rank that another tool holds for a moment is tried again: that tool is gone after some of these, a debugger is
/// not.
inline constexpr int most_tries = 10;
inline constexpr std::chrono::milliseconds between_tries{20};

/// The status of a command that a signal ended.
[[nodiscard]] constexpr int status_by_signal(int number) {
  return 128 + number;
}
/// The status of a command that got no further than `look_for_ranks`.
[[nodiscard]] int status_without_ranks(signal_catcher& signals);

}  // namespace mpiacq::tool
