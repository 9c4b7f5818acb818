// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "commands/check_session.hpp"
#include "commands/commands.hpp"
#include "commands/exit_status.hpp"

namespace mpiacq::tool {

int run_check(const check_options& options) {
  auto report = report_file::open(options.report, options.pid ? STDOUT_FILENO : STDERR_FILENO);
  if (!report) {
    complain(report.error());
    return status_tool_failed;
  }
  // Before the launch: a Ctrl-C in between must not end us and leave the starter.
  signal_catcher signals;
  check::run_options how;
  how.debug_files = search_in(options.report);
  // A download would hold the job, and what has to be downloaded is not where the document wants it.
  how.debug_files.debuginfod = false;
  if (!options.daemon.empty()) how.daemon = mpir::daemon_request{options.daemon, options.daemon_arguments, false};
  auto watched = options.pid ? check::run::attach(process_id{*options.pid}, std::move(how))
                             : check::run::launch(options.command, std::move(how));
  if (!watched) {
    complain(watched.error());
    return options.pid ? status_tool_failed : status_of_failed_launch(watched.error().code);
  }
  return check_session(**watched, options, *report, signals).run();
}

}  // namespace mpiacq::tool
