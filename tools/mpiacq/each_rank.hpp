// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "command_line.hpp"
#include "mpiacq/job.hpp"
#include "rank_commands.hpp"

namespace mpiacq::tool {

/// Begins what --each asks for on a job whose ranks are not held by us; null where it asks for nothing. Ranks that are
/// left out are named on standard error. What commands print goes to standard output where the report does not go
/// there as JSON and the job's output is not there, else to standard error.
[[nodiscard]] std::unique_ptr<rank_commands> run_for_each(const job& subject, const job_command_options& options,
                                                          bool launched);

}  // namespace mpiacq::tool
