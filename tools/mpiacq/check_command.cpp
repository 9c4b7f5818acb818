// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "check_session.hpp"
#include "commands.hpp"
#include "exit_status.hpp"

namespace mpiacq::tool {

int run_check(const check_options& options) {
  auto report = report_file::open(options.report.output, STDERR_FILENO);
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
  auto launched = check::run::launch(options.command, std::move(how));
  if (!launched) {
    complain(launched.error());
    return status_of_failed_launch(launched.error().code);
  }
  return check_session(**launched, options, *report, signals).run();
}

}  // namespace mpiacq::tool
