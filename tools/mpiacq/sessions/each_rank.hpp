// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "mpiacq/job/job.hpp"
#include "options/job_command_options.hpp"
#include "sessions/rank_commands.hpp"

namespace mpiacq::tool {

/// The selected ranks that --each runs a command for, as they are now; empty without --each. Ranks that get no command
/// are named on standard error. Ask before the job runs on: a rank may end before its command begins.
[[nodiscard]] std::vector<command_subject> subjects_for_each(const job& subject, const job_command_options& options);
/// Starts the commands of --each on a job whose ranks mpiacq does not hold; null without --each. The commands' output
/// goes to standard output, but to standard error if the job's output or a report in JSON goes to standard output. The
/// job lends a rank that it follows to the rank's command while that runs: `subject` must outlive the result.
[[nodiscard]] std::unique_ptr<rank_commands> run_for_each(job& subject, const job_command_options& options,
                                                          std::vector<command_subject> subjects, bool launched);
/// The same for ranks that the job's table has gained since `known`, which becomes the new table.
void run_for_newcomers(rank_commands& commands, const job& subject, const job_command_options& options,
                       std::shared_ptr<const process_table>& known);

}  // namespace mpiacq::tool
