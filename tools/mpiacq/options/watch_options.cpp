// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "options/watch_options.hpp"

#include <charconv>
#include <csignal>
#include <system_error>

#include "options/option_parts.hpp"

namespace mpiacq::tool {

namespace {

constexpr choices<then, 3> choices_after_report = {
    {{"continue", then::go_on}, {"stop", then::stop}, {"kill", then::kill}}};

constexpr choices<core_choice, 3> choices_of_cores = {
    {{"first", core_choice::first}, {"odd", core_choice::odd}, {"all", core_choice::all}}};

constexpr choices<int, 3> signals_for_reports = {{{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"TERM", SIGTERM}}};

/// A positive number of seconds, or "auto".
void add_watch_timeout(CLI::App& app, watch_request& watch) {
  const auto take = [&watch](const std::string& word) {
    watch.batch_limit = word == "auto";
    if (watch.batch_limit) return;
    double seconds = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), seconds);
    if (problem != std::errc{} || end != word.data() + word.size() || !(seconds > 0)) {
      throw CLI::ValidationError("--timeout", "\"" + word + "\" is neither a positive number of seconds nor \"auto\"");
    }
    watch.timeout = seconds;
  };
  app.add_option_function<std::string>(
         "--timeout", take,
         "Report the job when mpiacq has watched it for this time. auto: shortly before the time limit of the batch "
         "job in which mpiacq runs")
      ->type_name("SECONDS|auto")
      ->group(option_group::job);
}

}  // namespace

void add_watch_options(CLI::App& app, watch_options& options) {
  add_job_operand(app, options.job);
  app.add_option("--hang", options.watch.hang, "Report the job when no rank has moved for this time")
      ->type_name("SECONDS")
      ->check(CLI::Validator(CLI::PositiveNumber).description(""))
      ->group(option_group::job);
  add_watch_timeout(app, options.watch);
  app.add_option(
         "--every", options.watch.every,
         "Take a sample of the stacks at this interval. A report then says for how long each rank has been where "
         "it is, by the last 20 samples")
      ->type_name("SECONDS")
      ->check(CLI::Validator(CLI::PositiveNumber).description(""))
      ->group(option_group::job);
  add_choice(app, "--report-on", options.watch.signal, signals_for_reports,
             "Report the job when mpiacq receives this signal, which is then not passed on to the job")
      ->group(option_group::job);
  app.add_flag("--crash", options.watch.crash,
               "Report the job when a rank fails: by a signal, by MPI_Abort, by an exit status, or by an exit without "
               "MPI_Finalize. All ranks are held meanwhile, and end as they would have")
      ->group(option_group::job);
  add_choice(app, "--cores", options.watch.cores, choices_of_cores,
             "Write core files into the folder of the report when a rank fails. first: of one rank that has failed by "
             "itself. odd: of all such ranks. all: of all ranks")
      ->group(option_group::report);
  app.add_option("--report", options.watch.folder,
                 "Write report.txt, report.json and report.html into this folder. Default: text on standard error")
      ->type_name("DIR")
      ->group(option_group::report);
  app.add_option("--junit", options.watch.junit,
                 "Write a JUnit file with the job as a test case, for the test view of a CI service")
      ->type_name("FILE")
      ->group(option_group::report);
  add_choice(
      app, "--then", options.after, choices_after_report,
      "What happens to the job after a report. continue: it runs, and is watched further. stop: it stays stopped "
      "for another tool. kill: it is ended. Default: continue")
      ->group(option_group::job);
  add_rank_options(app, options, "The ranks to watch: 0-3,8, or 1:0-3 in a job of several worlds. Default: all");
  add_hosts_option(app, options.hosts);
  add_debug_folders_option(app, options.report);
}

std::optional<std::string> mistake_in(const watch_options& options) {
  if (options.job && !options.starter.words.empty()) return "JOB and a starter exclude each other: choose one of them";
  const bool wants_cores = options.watch.cores != core_choice::none;
  if (wants_cores && (!options.watch.crash || options.watch.folder.empty())) {
    return "--cores needs --crash, and --report DIR for the core files";
  }
  const bool has_time = options.watch.hang || options.watch.timeout || options.watch.batch_limit || options.watch.crash;
  if (!has_time && options.watch.signal == 0) {
    return "nothing to watch for. Example: mpiacq watch --hang 120 -- mpirun -n 4 ./app";
  }
  if (!options.ranks.communicator.empty()) return "--ranks comm: is not possible here: name the ranks";
  return std::nullopt;
}

}  // namespace mpiacq::tool
