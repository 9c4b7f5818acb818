// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "commands.hpp"
#include "exit_status.hpp"
#include "mpiacq/job_view.hpp"
#include "queues_session.hpp"
#include "report_file.hpp"
#include "session_wait.hpp"

namespace mpiacq::tool {

int run_queues(const queues_options& options) {
  auto report = report_file::open(options.report.output, STDOUT_FILENO);
  if (!report) {
    complain(report.error());
    return status_tool_failed;
  }
  debug_file_search search = search_in(options.report);
  search.debuginfod = false;  // a download would hold the job
  const deadline until = deadline_after(options.timeout);
  const look_options how{{}, search, options.interface};
  const auto ranks = ranks_of(options.ranks, options.process, options.queue, how, until);
  if (!ranks) {
    complain(ranks.error());
    return status_tool_failed;
  }
  const auto job = look_at_job(options.process, how, until);
  if (!job) {
    complain(job.error());
    return status_tool_failed;
  }
  auto session = queues_session::open(job->starter, *job->processes, job->is_local, *ranks, options.queue, search);
  if (!session) {
    complain(session.error());
    return status_tool_failed;
  }
  session->snapshot().problems = job->problems;
  session->look();
  const queues_snapshot& seen = session->snapshot();
  const std::string text = options.report.json ? queues_json(seen) : queues_text(seen, report->wants_colour());
  if (auto written = report->write(text); !written) {
    complain(written.error());
    return status_tool_failed;
  }
  return session->rank_failed() ? status_rank_failed : status_ok;
}

}  // namespace mpiacq::tool
