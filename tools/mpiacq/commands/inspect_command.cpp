// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include <unistd.h>

#include "commands/commands.hpp"
#include "commands/exit_status.hpp"
#include "errors/try.hpp"
#include "mpiacq/process/tracer.hpp"
#include "options/option_parts.hpp"
#include "report/inspect_report.hpp"
#include "report/json/json_writer.hpp"
#include "report/report_file.hpp"

namespace mpiacq::tool {

namespace {

struct inspect_options {
  report_options report;
  std::string subject;  ///< a file, or a process id
};

/// A number is a process; a file of that name can be given as ./NUMBER.
result<inspected> inspect_subject(const std::string& subject, const debug_file_search& search) {
  const auto process = process_id_in(subject);
  auto found = TRY(process ? inspect_process(*process, search) : inspect_file(subject, search));
  inspected seen{std::move(found), {}};
  if (!process) return seen;
  process_memory memory(*process);
  auto values = mpir::read_values(memory, seen.program.abi, seen.program.symbols);
  seen.values = std::move(values.values);
  auto& problems = seen.program.problems;
  problems.insert(problems.end(), values.problems.begin(), values.problems.end());
  return seen;
}

result<int> run(const inspect_options& options) {
  const auto report = TRY(report_file::open(options.report, STDOUT_FILENO));
  const auto found = TRY(inspect_subject(options.subject, search_in(options.report)));
  report.write([found, json = options.report.json](report_stream& out) {
    json ? write_document(out, inspect_json(found)) : out.write(inspect_text(found));
  });
  return status_ok;
}

declared_command declare_inspect(CLI::App& app) {
  const auto options = std::make_shared<inspect_options>();
  app.add_option("FILE|PID", options->subject, "A program's file, or the id of a running process")->required();
  add_report_options(app, options->report);
  return {.run = [options] { return run(*options); }};
}

}  // namespace

const command inspect_command = {
    .name = "inspect",
    .purpose = "Shows what a program or a running process offers to a debugger",
    .example = "mpiacq inspect /usr/bin/mpirun",
    .usage = "FILE|PID",
    .details =
        R"(The report lists each symbol of the interfaces with its module and address, the layout of the process descriptor and where it was learnt, and what is missing. Nothing is run or stopped.

Another example:
  mpiacq inspect 4242

Exit status: 0; 125 if the program cannot be read.
)",
    .declare = declare_inspect};

}  // namespace mpiacq::tool
