// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "commands/agents_choice.hpp"
#include "commands/commands.hpp"
#include "commands/exit_status.hpp"
#include "commands/launch_session.hpp"

namespace mpiacq::tool {

debug_file_search search_in(const report_options& options) {
  debug_file_search search;
  search.folders.insert(search.folders.begin(), options.debug_folders.begin(), options.debug_folders.end());
  return search;
}

job_options job_options_of(const job_command_options& options) {
  job_options how;
  how.debug_files = search_in(options.report);
  // A download would hold the job; what is missing then is inferred or said.
  how.debug_files.debuginfod = false;
  how.daemons = options.daemons;
  how.ranks = options.ranks;
  how.interface = options.interface;
  how.opens_gates_elsewhere = open_gates_elsewhere(options);
  return how;
}

int run_launch(const launch_options& options) {
  auto report = report_file::open(options.report, STDERR_FILENO);
  if (!report) {
    complain(report.error());
    return status_tool_failed;
  }
  // Before the launch: a Ctrl-C in between must not end us and leave the starter.
  signal_catcher signals;
  agents_of_job agents(options, signals.descriptor());
  const auto daemons = agents.request();
  if (!daemons) {
    complain(daemons.error());
    return status_tool_failed;
  }
  job_options how = job_options_of(options);
  if (*daemons) how.daemons = **daemons;
  auto launched = job::launch(options.command, std::move(how));
  if (!launched) {
    complain(launched.error());
    return status_of_failed_launch(launched.error().code);
  }
  return launch_session(**launched, options, agents, *report, signals).run();
}

}  // namespace mpiacq::tool
