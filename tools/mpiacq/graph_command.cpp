// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include <unistd.h>

#include "commands.hpp"
#include "exit_status.hpp"
#include "graph_report.hpp"
#include "report_file.hpp"

namespace mpiacq::tool {

namespace {

/// A number is a process; a core file of that name can be given as ./NUMBER.
result<job_graph> graph_of(const graph_command_options& options) {
  const std::string& subject = options.subject;
  graph_options how;
  how.debug_files = search_in(options.report);
  how.files = {options.executable, options.sysroot};
  std::int64_t pid = 0;
  const auto [end, problem] = std::from_chars(subject.data(), subject.data() + subject.size(), pid);
  const bool is_number = problem == std::errc{} && end == subject.data() + subject.size() && pid > 0;
  return is_number ? look_at_graph(process_id{pid}, how) : read_graph(subject, how);
}

}  // namespace

int run_graph(const graph_command_options& options) {
  auto report = report_file::open(options.report.output, STDOUT_FILENO);
  if (!report) {
    complain(report.error());
    return status_tool_failed;
  }
  const auto job = graph_of(options);
  if (!job) {
    complain(job.error());
    return status_tool_failed;
  }
  const std::string text = options.report.json ? graph_json(*job)
                           : options.dot       ? graph_dot(*job)
                                               : graph_text(*job, report->wants_colour());
  if (auto written = report->write(text); !written) {
    complain(written.error());
    return status_tool_failed;
  }
  return status_ok;
}

}  // namespace mpiacq::tool
