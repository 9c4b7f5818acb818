// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <utility>

#include <unistd.h>

#include "commands/commands.hpp"
#include "commands/exit_status.hpp"
#include "mpiacq/process/tracer.hpp"
#include "report/inspect_report.hpp"
#include "report/json/json_writer.hpp"
#include "report/report_file.hpp"

namespace mpiacq::tool {

namespace {

/// A number is a process; a file of that name can be given as ./NUMBER.
result<inspected> inspect_subject(const std::string& subject, const debug_file_search& search) {
  std::int64_t pid = 0;
  const auto [end, problem] = std::from_chars(subject.data(), subject.data() + subject.size(), pid);
  const bool is_number = problem == std::errc{} && end == subject.data() + subject.size() && pid > 0;
  auto found = is_number ? inspect_process(process_id{pid}, search) : inspect_file(subject, search);
  if (!found) return fail(std::move(found).error());
  inspected seen{std::move(*found), {}};
  if (!is_number) return seen;
  process_memory memory(process_id{pid});
  auto values = mpir::read_values(memory, seen.program.abi, seen.program.symbols);
  seen.values = std::move(values.values);
  auto& problems = seen.program.problems;
  problems.insert(problems.end(), values.problems.begin(), values.problems.end());
  return seen;
}

}  // namespace

int run_inspect(const inspect_options& options) {
  auto report = report_file::open(options.report, STDOUT_FILENO);
  if (!report) {
    complain(report.error());
    return status_tool_failed;
  }
  const auto found = inspect_subject(options.subject, search_in(options.report));
  if (!found) {
    complain(found.error());
    return status_tool_failed;
  }
  report->write([found = *found, json = options.report.json](report_stream& out) {
    json ? write_document(out, inspect_json(found)) : out.write(inspect_text(found));
  });
  return status_ok;
}

}  // namespace mpiacq::tool
