// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <unistd.h>

#include "commands/commands.hpp"
#include "commands/complaints.hpp"
#include "commands/exit_status.hpp"
#include "errors/try.hpp"
#include "options/job_command_options.hpp"
#include "options/option_parts.hpp"
#include "sessions/check_session.hpp"

namespace mpiacq::tool {

namespace {

std::optional<std::string> mistake_in(const check_options& options) {
  if (options.starter.words.empty()) return "no starter was given. Example: mpiacq check -- mpirun -n 4 ./app";
  return std::nullopt;
}

result<int> run(check_options options) {
  // A number is a running starter; a program of that name can be given behind "--".
  const std::vector<std::string>& words = options.starter.words;
  if (words.size() == 1 && !options.starter.follows_mark) options.running = process_id_in(words.front());
  auto report = TRY(report_file::open(options.report, options.running ? STDOUT_FILENO : STDERR_FILENO));
  // Before the launch: otherwise a Ctrl-C could end mpiacq and leave the starter behind.
  signal_catcher signals;
  check::run_options how;
  // A debug file that must be downloaded is not in a place that the MPIR document permits.
  how.debug_files = search_without_downloads(options.report);
  how.daemon = options.daemons;
  auto watched = options.running ? check::run::attach(*options.running, std::move(how))
                                 : check::run::launch(options.starter.words, std::move(how));
  if (!watched) {
    complain(watched.error());
    return options.running ? status_tool_failed : status_of_failed_launch(watched.error().code);
  }
  return check_session(**watched, options, report, signals).run();
}

declared_command declare_check(CLI::App& app) {
  const auto options = std::make_shared<check_options>();
  add_timeout(app, options->timeout, "Watch no longer than this; the job runs on, and what was seen is judged");
  add_daemon_options(app, options->daemons);
  add_report_options(app, options->report);
  return {.run = [options] { return run(*options); },
          .mistake = [options] { return mistake_in(*options); },
          .starter = &options->starter};
}

}  // namespace

const command check_command = {
    .name = "check",
    .purpose = "Judges, clause by clause, whether a starter conforms to MPIR 1.1 and to the MPI2DD draft",
    .example = "mpiacq check -- mpirun -n 4 ./app",
    .usage = "-- STARTER ARG...\nPID",
    .details =
        R"(The starter runs as it is, and its job is watched to the end without being disturbed. The report goes to standard error, so that the job's output stays its own. A running starter (PID) is attached to for a moment; its report goes to standard output.

More examples:
  mpiacq check 4242
  mpiacq check --json -o verdicts.json -- srun -N2 -n8 ./app

Exit status: 0; 1 if a clause failed; 125 if mpiacq failed or the starter started no job; 126 if the starter cannot be run; 127 if it is not found.
)",
    .declare = declare_check};

}  // namespace mpiacq::tool
