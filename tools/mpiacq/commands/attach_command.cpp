// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "commands/attach_session.hpp"
#include "commands/commands.hpp"
#include "commands/exit_status.hpp"
#include "commands/queues_session.hpp"
#include "commands/session_wait.hpp"
#include "mpiacq/job/job_view.hpp"

namespace mpiacq::tool {

namespace {

result<rank_selection> chosen_ranks(const attach_command_options& options, const signal_catcher& signals) {
  const rank_choice chosen{options.ranks, options.communicator};
  if (chosen.communicator.empty()) return chosen.ranks;
  const look_options how{{}, job_options_of(options).debug_files, options.interface};
  const auto job = look_at_job(options.process, how, deadline_after(options.timeout));
  if (!job) return fail(job.error());
  return ranks_of(chosen, *job, options.queue, how.debug_files, options.agents, signals.descriptor());
}

}  // namespace

int run_attach(const attach_command_options& options) {
  auto report = report_file::open(options.report, STDOUT_FILENO);
  if (!report) {
    complain(report.error());
    return status_tool_failed;
  }
  // Before the attach: a Ctrl-C lets the job go, not just us.
  signal_catcher signals{when_busy::end};
  attach_command_options asked = options;
  const auto ranks = chosen_ranks(options, signals);
  if (!ranks) {
    complain(ranks.error());
    return status_tool_failed;
  }
  asked.ranks = *ranks;
  agents_of_job agents(asked, signals.descriptor());
  agents.reach(asked.process);
  auto attached = job::attach(asked.process, job_options_of(asked));
  if (!attached) {
    complain(attached.error());
    return status_tool_failed;
  }
  return attach_session(**attached, asked, agents, *report, signals).run();
}

}  // namespace mpiacq::tool
