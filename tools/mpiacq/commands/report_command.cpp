// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "commands/commands.hpp"
#include "commands/complaints.hpp"
#include "commands/exit_status.hpp"
#include "errors/try.hpp"
#include "options/option_parts.hpp"
#include "report/findings.hpp"
#include "report/report_file.hpp"
#include "report/report_form.hpp"
#include "report/whole_file.hpp"
#include "sessions/report_session.hpp"

namespace mpiacq::tool {

namespace {

struct report_command_options : observation_options {
  bool all_threads = false;
};

result<int> run(const report_command_options& options) {
  const report_form form = options.report.json ? report_form::document : form_of_file(options.report.output);
  const bool has_file = !options.report.output.empty() && options.report.output != "-";
  // A file that cannot be written is reported before the job is looked at.
  std::optional<whole_file> file;
  if (has_file) file = TRY(whole_file::open(options.report.output));
  signal_catcher signals{when_busy::end};
  const auto look = look_for_ranks(options, signals);
  if (!look) return look.error();
  report_look done = look_for_report(*look, options.queue, options.all_threads);
  const auto signal = signals.take();
  const auto found = std::make_shared<const findings>(std::move(done.found));
  if (file) {
    file->write([found, form](report_stream& out) { write_in_form(out, *found, form, false); });
    complain(fmt::format("{} (written to {})", found->why.sentence, options.report.output));
  } else {
    const report_file output = TRY(report_file::open(options.report, STDOUT_FILENO));
    output.write([found, form, colour = output.wants_colour()](report_stream& out) {
      write_in_form(out, *found, form, colour);
    });
  }
  if (signal) return status_by_signal(signal->number);
  return done.rank_failed ? status_rank_failed : status_ok;
}

declared_command declare_report(CLI::App& app) {
  const auto options = std::make_shared<report_command_options>();
  add_observation_options(app, *options);
  add_threads_option(app, options->all_threads);
  return {.run = [options] { return run(*options); }};
}

}  // namespace

const command report_command = {
    .name = "report",
    .purpose = "Explains why a job stands still, with everything that supports the answer",
    .example = "mpiacq report -o report.html 4242",
    .usage = "[JOB]",
    .details =
        R"(The report begins with one sentence: which ranks are in a deadlock, or which rank the others wait for, and the source line where it is. Then follow the ranks to look at first, who waits for whom, the calls of all ranks, the pending messages, and what is not known. The ranks are stopped for the milliseconds that each of the two looks takes.

The name of the file decides about the form: FILE.html is one page for a browser, which needs no network and no other file; FILE.json is for programs; anything else is text. Without -o, text goes to standard output. A file is written aside and then renamed, so that it is never half a report.

Without JOB, mpiacq takes the only job on this node; 'mpiacq jobs' lists them.

More examples:
  mpiacq report
  mpiacq report --json slurm:42 > report.json

Exit status: 0; 1 if a rank could not be read completely; 125 if mpiacq failed or the job has no process table; 128 + N after signal N.
)",
    .declare = declare_report};

}  // namespace mpiacq::tool
