// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "commands/agents_choice.hpp"
#include "commands/commands.hpp"
#include "commands/complaints.hpp"
#include "commands/exit_status.hpp"
#include "errors/try.hpp"
#include "options/watch_options.hpp"
#include "sessions/batch_limit.hpp"
#include "sessions/junit_session.hpp"
#include "sessions/launch_session.hpp"
#include "sessions/report_folder.hpp"
#include "sessions/watch_session.hpp"

namespace mpiacq::tool {

namespace {

result<int> launch_and_watch(const watch_options& options, job_watcher& watcher, report_file& text,
                             signal_catcher& signals) {
  launch_options launched = static_cast<const launch_options&>(options);
  launched.timeout.reset();  // --timeout is the watcher's
  agents_of_job agents(launched, signals.descriptor());
  job_options how = job_options_of(launched);
  // A process has one tracer, and the looks need it.
  how.follow_ranks = false;
  auto subject = job::launch(options.starter.words, std::move(how));
  if (!subject) {
    complain(subject.error());
    return status_of_failed_launch(subject.error().code);
  }
  return launch_session(**subject, launched, agents, text, signals, &watcher).run();
}

/// The options with the time of --timeout auto.
result<watch_options> with_batch_limit(watch_options options) {
  if (!options.watch.batch_limit) return options;
  const auto found = find_batch_limit();
  if (!found) {
    error why = found.error();
    return fail(std::move(why).while_doing("looking for the time limit of the batch job"));
  }
  const auto margin = margin_before_end(found->left);
  options.watch.timeout = static_cast<double>(found->left.count()) - margin.count();
  options.watch.limit = fmt::format("{:.3g} s before the time limit of {}", margin.count(), found->job);
  return options;
}

result<int> run(const watch_options& asked) {
  const auto options = TRY(with_batch_limit(asked));
  auto text = TRY(report_file::open(options.report, STDERR_FILENO));
  // A folder that cannot be written to is reported before the job starts.
  if (!options.watch.folder.empty()) TRY(prepare_report_folder(options.watch.folder));
  const auto junit = TRY(junit_session::begin(options));
  const bool launches = !options.starter.words.empty();
  signal_catcher signals{launches ? when_busy::keep : when_busy::end};
  job_watcher watcher(options, text, signals.descriptor());
  auto status =
      launches ? launch_and_watch(options, watcher, text, signals) : watch_running_job(options, watcher, signals);
  junit.end(options, watcher, status);
  return status;
}

declared_command declare_watch(CLI::App& app) {
  const auto options = std::make_shared<watch_options>();
  add_watch_options(app, *options);
  return {.run = [options] { return run(*options); },
          .mistake = [options] { return mistake_in(*options); },
          .starter = &options->starter};
}

}  // namespace

const command watch_command = {
    .name = "watch",
    .purpose = "Follows a job, and reports it when it stands still, when a rank fails, or when it has run for too long",
    .example = "mpiacq watch --hang 120 --report hang --then kill -- mpirun -n 4 ./app",
    .usage = "[JOB]\n-- STARTER ARG...",
    .details =
        R"(mpiacq looks at the ranks from time to time, a few at once, each for a moment. A rank has moved when it is in another MPI call than before, or in the same call from another place of the program. When no rank has moved for the time of --hang, and some ranks are in MPI calls, mpiacq writes the report that 'mpiacq report' describes, prints its first line to standard error, and does with the job what --then says. A job in which all ranks compute does not stand still.

With --crash, mpiacq follows each rank to its end. The first rank that fails stops all ranks, before the launcher learns of it; they end as they would have when the report's contents have been read.

A single collective call, or a computation that other ranks wait for, may take long: choose a --hang that no healthy part of the job exceeds.

More examples:
  mpiacq watch --timeout 3600 --report late --then kill -- srun -n 64 ./app
  mpiacq watch --crash --cores odd --report crash -- mpirun -n 64 ./app
  mpiacq watch --hang 60 4242

Exit status: 124 if mpiacq has ended the job; otherwise the starter's, or 0 for a job that ran already; 125 if mpiacq failed; 128 + N after signal N.
)",
    .declare = declare_watch,
    .gives_starters_status = true};

}  // namespace mpiacq::tool
