// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "commands/commands.hpp"
#include "commands/complaints.hpp"
#include "commands/exit_status.hpp"
#include "commands/progress_line.hpp"
#include "errors/try.hpp"
#include "options/option_parts.hpp"
#include "report/json/json_writer.hpp"
#include "report/json/stacks_json.hpp"
#include "report/report_file.hpp"
#include "sessions/ranks_look.hpp"
#include "sessions/session_wait.hpp"
#include "sessions/stacks_session.hpp"

namespace mpiacq::tool {

namespace {

/// How the report is written unless it is JSON.
enum class stacks_form : unsigned char { tree, folded, dot };

struct stacks_options : observation_options {
  bool all_threads = false;
  bool arguments = false;
  stacks_form form = stacks_form::tree;
  std::size_t samples = 1;
  double interval = 0.1;  ///< seconds
};

constexpr double longest_wait = 1e9;  // seconds: a clock cannot add much more

/// Waits until `then` or until a signal arrives. Returns the number of that signal.
std::optional<int> wait_until(deadline then, signal_catcher& signals) {
  (void)is_readable_by(then, signals.descriptor());
  const auto signal = signals.take();
  return signal ? std::optional(signal->number) : std::nullopt;
}

/// Returns the number of the signal that ended the sampling before the last sample.
std::optional<int> take_samples(stacks_session& session, const stacks_options& options, signal_catcher& signals) {
  progress_line shown(options.samples > 1);
  const deadline begin = clock::now();
  for (std::size_t taken = 1; taken <= options.samples; ++taken) {
    shown.show(fmt::format("sample {} of {}", taken, options.samples));
    session.sample();
    // A signal may have arrived while agents worked: some ranks are then missing because of it.
    if (taken == options.samples) return wait_until(clock::now(), signals);
    // The times are counted from the first sample, not from the end of the last one, so that the rate is the requested
    // one.
    const std::chrono::duration<double> since(std::min(options.interval * static_cast<double>(taken), longest_wait));
    const deadline next = begin + std::chrono::duration_cast<clock::duration>(since);
    if (const auto signal = wait_until(next, signals)) return signal;
  }
  return std::nullopt;
}

void write_report(report_stream& out, const stacks_snapshot& snapshot, const stacks_options& options, bool colour) {
  if (options.report.json) {
    json_writer document(out);
    write_stacks(document, snapshot);
    return out.put('\n');
  }
  switch (options.form) {
    case stacks_form::folded:
      return write_stacks_folded(out, snapshot.tree);
    case stacks_form::dot:
      return write_stacks_dot(out, snapshot);
    case stacks_form::tree:
      return write_stacks_text(out, snapshot, colour);
  }
}

/// Prints the messages that the forms for other programs cannot contain.
void complain_of_ranks(const stacks_snapshot& snapshot) {
  rank_set remote;
  for (const stacked_rank& row : snapshot.ranks) {
    if (!row.is_local) remote.add(row.entry);
    for (const error& problem : row.problems)
      complain(fmt::format("rank {}: {}", snapshot.names.of(row.entry), problem.message));
  }
  if (!remote.empty()) complain("on other nodes, and not looked at: ranks " + snapshot.names.text(remote));
}

result<int> run(const stacks_options& options) {
  auto report = TRY(report_file::open(options.report, STDOUT_FILENO));
  signal_catcher signals{when_busy::end};
  const auto look = look_for_ranks(options, signals);
  if (!look) return look.error();
  const job_description& job = look->job;
  stacks_session session(look->ranks, job, look->selection, options.all_threads, options.arguments);
  stacks_snapshot& snapshot = session.snapshot();
  snapshot.interval = std::chrono::duration<double>(options.interval);
  snapshot.problems = job.problems;
  const auto interrupted = take_samples(session, options, signals);
  if (options.form != stacks_form::tree && !options.report.json) complain_of_ranks(snapshot);
  const bool rank_failed = session.rank_failed();
  report.write([seen = std::make_shared<stacks_snapshot>(std::move(snapshot)), options,
                colour = report.wants_colour()](report_stream& out) { write_report(out, *seen, options, colour); });
  if (interrupted) return status_by_signal(*interrupted);
  return rank_failed ? status_rank_failed : status_ok;
}

declared_command declare_stacks(CLI::App& app) {
  const auto options = std::make_shared<stacks_options>();
  add_observation_options(app, *options);
  add_threads_option(app, options->all_threads);
  const auto form = [&app, options](const char* flag, stacks_form chosen, const char* about) {
    return app
        .add_flag_function(
            flag, [options, chosen](std::int64_t) { options->form = chosen; }, about)
        ->excludes(app.get_option("--json"));
  };
  CLI::Option* folded =
      form("--folded", stacks_form::folded, "Write one line for each different stack, for flame graphs");
  CLI::Option* dot = form("--dot", stacks_form::dot, "Write the tree for Graphviz")->excludes(folded);
  CLI::Option* samples = app.add_option("--samples", options->samples,
                                        "Take N samples and add them up; the report marks what moved. Default: 1")
                             ->type_name("N")
                             ->check(CLI::Validator(CLI::PositiveNumber).description(""))
                             ->group(option_group::stacks);
  app.add_flag("--args", options->arguments,
               "Show the arguments of the MPI call that each rank is in. The ranks are stopped for longer")
      ->excludes(folded)
      ->excludes(dot)
      ->excludes(samples)
      ->group(option_group::stacks);
  app.add_option("--interval", options->interval, "The time from one sample to the next. Default: 0.1")
      ->type_name("SECONDS")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""))
      ->group(option_group::stacks);
  return {.run = [options] { return run(*options); }};
}

}  // namespace

const command stacks_command = {
    .name = "stacks",
    .purpose = "Shows where all ranks of a job are, as one tree of calls",
    .example = "mpiacq stacks 4242",
    .usage = "[JOB]",
    .details =
        R"(The ranks are stopped together for the milliseconds that it takes to copy their stacks; the starter runs on. Calls that ranks share are shown once, and the tree branches where the ranks differ. The report goes to standard output.

Without JOB, mpiacq takes the only job on this node; 'mpiacq jobs' lists them.

More examples:
  mpiacq stacks --args 4242
  mpiacq stacks --samples 20 --interval 0.5 4242
  mpiacq stacks --threads all --ranks 0-3 --json -o stacks.json 4242
  mpiacq stacks --samples 100 --interval 0.01 --folded 4242 | flamegraph.pl > job.svg

Exit status: 0; 1 if the stacks of a rank of this node could not be taken; 125 if mpiacq failed: there is no job, or its process table is not complete within --timeout; 128 + N after signal N.
)",
    .declare = declare_stacks};

}  // namespace mpiacq::tool
