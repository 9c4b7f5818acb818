// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "attach_session.hpp"
#include "commands.hpp"
#include "exit_status.hpp"

namespace mpiacq::tool {

int run_attach(const attach_command_options& options) {
  auto report = report_file::open(options.report.output, STDOUT_FILENO);
  if (!report) {
    complain(report.error());
    return status_tool_failed;
  }
  // Before the attach: a Ctrl-C lets the job go, not just us.
  signal_catcher signals;
  auto attached = job::attach(options.process, job_options_of(options));
  if (!attached) {
    complain(attached.error());
    return status_tool_failed;
  }
  return attach_session(**attached, options, *report, signals).run();
}

}  // namespace mpiacq::tool
