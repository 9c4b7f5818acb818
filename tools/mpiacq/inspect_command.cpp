// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include <unistd.h>

#include "commands.hpp"
#include "exit_status.hpp"
#include "inspect_report.hpp"
#include "report_file.hpp"

namespace mpiacq::tool {

namespace {

/// A number is a process; a file of that name can be given as ./NUMBER.
result<inspection> inspect_subject(const std::string& subject, const debug_file_search& search) {
  std::int64_t pid = 0;
  const auto [end, problem] = std::from_chars(subject.data(), subject.data() + subject.size(), pid);
  const bool is_number = problem == std::errc{} && end == subject.data() + subject.size() && pid > 0;
  return is_number ? inspect_process(process_id{pid}, search) : inspect_file(subject, search);
}

}  // namespace

int run_inspect(const inspect_options& options) {
  auto report = report_file::open(options.report.output, STDOUT_FILENO);
  if (!report) {
    complain(report.error());
    return status_tool_failed;
  }
  const auto found = inspect_subject(options.subject, search_in(options.report));
  if (!found) {
    complain(found.error());
    return status_tool_failed;
  }
  if (auto written = report->write(options.report.json ? inspect_json(*found) : inspect_text(*found)); !written) {
    complain(written.error());
    return status_tool_failed;
  }
  return status_ok;
}

}  // namespace mpiacq::tool
