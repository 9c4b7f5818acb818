// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <memory>

#include <unistd.h>

#include "commands/agents_choice.hpp"
#include "commands/commands.hpp"
#include "commands/complaints.hpp"
#include "commands/exit_status.hpp"
#include "errors/try.hpp"
#include "sessions/launch_session.hpp"

namespace mpiacq::tool {

namespace {

std::optional<std::string> mistake_in(const launch_options& options) {
  if (options.starter.words.empty()) return "no starter was given. Example: mpiacq launch -- mpirun -n 4 ./app";
  if (!options.ranks.communicator.empty()) {
    return "--ranks comm: needs a job that runs already, as in attach, stacks and queues";
  }
  return contradiction_in(options);
}

result<int> run(const launch_options& options) {
  auto report = TRY(report_file::open(options.report, STDERR_FILENO));
  // Before the launch: otherwise a Ctrl-C could end mpiacq and leave the starter behind.
  signal_catcher signals;
  agents_of_job agents(options, signals.descriptor());
  const auto daemons = TRY(agents.request());
  job_options how = job_options_of(options);
  if (daemons) how.daemons = *daemons;
  auto launched = job::launch(options.starter.words, std::move(how));
  if (!launched) {
    complain(launched.error());
    return status_of_failed_launch(launched.error().code);
  }
  return launch_session(**launched, options, agents, report, signals).run();
}

declared_command declare_launch(CLI::App& app) {
  const auto options = std::make_shared<launch_options>();
  add_job_command_options(app, *options, "Give up, and let the job run, if it has no processes within this time");
  return {.run = [options] { return run(*options); },
          .mistake = [options] { return mistake_in(*options); },
          .starter = &options->starter};
}

}  // namespace

const command launch_command = {
    .name = "launch",
    .purpose = "Runs a starter under control and reports the processes of its job",
    .example = "mpiacq launch -- mpirun -n 4 ./app",
    .usage = "-- STARTER ARG...",
    .details =
        R"(The processes are reported as soon as the starter has spawned them; then the job goes on. The report goes to standard error, so that the job's output stays its own. STARTER may also be a script or a program that runs the starter. If no program of it has an interface for debuggers, mpiacq knows the ranks by the variables that their launcher sets for them, and holds them before their first instruction until all ranks of this node have come.

More examples:
  mpiacq launch --json -o job.json --then stop -- srun -N2 -n8 ./app
  mpiacq launch --each 'taskset -p {pid}' -- mpirun -n 4 ./app

Exit status: the starter's own; 128 + N if signal N ended the starter. If the starter ended with 0: 1 if a command of --each failed or a rank could not be looked at; 125 if mpiacq failed or the starter reported no processes. 126 if the starter cannot be run; 127 if it is not found.
)",
    .declare = declare_launch,
    .gives_starters_status = true};

}  // namespace mpiacq::tool
