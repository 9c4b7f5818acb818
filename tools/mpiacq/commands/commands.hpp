// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "commands/command_line.hpp"
#include "commands/complaints.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/process/process_symbols.hpp"

namespace mpiacq::tool {

// Each runs one subcommand and gives the exit status.
[[nodiscard]] int run_launch(const launch_options& options);
[[nodiscard]] int run_attach(const attach_command_options& options);
[[nodiscard]] int run_inspect(const inspect_options& options);
[[nodiscard]] int run_check(const check_options& options);
[[nodiscard]] int run_stacks(const stacks_options& options);
[[nodiscard]] int run_graph(const graph_command_options& options);
[[nodiscard]] int run_queues(const queues_options& options);

[[nodiscard]] debug_file_search search_in(const report_options& options);

/// What both launch and attach hand to the library.
[[nodiscard]] job_options job_options_of(const job_command_options& options);

}  // namespace mpiacq::tool
