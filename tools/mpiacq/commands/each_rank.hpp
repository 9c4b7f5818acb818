// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "commands/command_line.hpp"
#include "commands/rank_commands.hpp"
#include "mpiacq/job/job.hpp"

namespace mpiacq::tool {

/// Begins what --each asks for on a job whose ranks are not held by us; null where it asks for nothing. Ranks that are
/// left out are named on standard error. What commands print goes to standard output where the report does not go
/// there as JSON and the job's output is not there, else to standard error. A rank that the job follows is lent to its
/// command for as long as that runs: `subject` must outlive what is given.
[[nodiscard]] std::unique_ptr<rank_commands> run_for_each(job& subject, const job_command_options& options,
                                                          bool launched);
/// The same for ranks that have come into the job's table since `known`, which becomes that table.
void run_for_newcomers(rank_commands& commands, const job& subject, const job_command_options& options,
                       std::shared_ptr<const process_table>& known);

}  // namespace mpiacq::tool
