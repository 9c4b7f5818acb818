// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "options/job_command_options.hpp"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "commands/agents_choice.hpp"
#include "options/option_parts.hpp"

namespace mpiacq::tool {

namespace {

/// Most commands wait for the disk and for the kernel; more of them at a time would only delay each other.
constexpr unsigned most_jobs = 8;

constexpr choices<then, 4> then_choices = {
    {{"continue", then::go_on}, {"detach", then::detach}, {"stop", then::stop}, {"kill", then::kill}}};

std::string_view word_of(then after) {
  return then_choices[static_cast<std::size_t>(after)].first;
}

/// The request; created if needed, because CLI11 checks only after the parse that an option has the other one that it
/// needs.
mpir::daemon_request& request_in(std::optional<mpir::daemon_request>& daemons) {
  return daemons ? *daemons : daemons.emplace();
}

void add_each_options(CLI::App& app, job_command_options& options) {
  CLI::Option* each =
      app.add_option("--each", options.each,
                     "Run a shell command for each rank of this node. {rank}, {world}, {pid}, {host} and {exe} are "
                     "replaced. Each line of its output is printed behind the rank")
          ->type_name("CMD")
          ->group(option_group::ranks);
  app.add_option("--jobs", options.jobs,
                 "Run at most N commands of --each at a time. Default: one for each processor, at most 8")
      ->type_name("N")
      ->check(CLI::Validator(CLI::PositiveNumber).description(""))
      ->group(option_group::ranks)
      ->needs(each);
}

}  // namespace

std::size_t default_jobs() {
  return std::clamp(std::thread::hardware_concurrency(), 1U, most_jobs);
}

void add_daemon_options(CLI::App& app, std::optional<mpir::daemon_request>& daemons) {
  CLI::Option* daemon = app.add_option_function<std::string>(
                               "--daemon", [&daemons](const std::string& path) { request_in(daemons).path = path; },
                               "Ask the starter to run this program once on each node of the job")
                            ->type_name("FILE")
                            ->group(option_group::daemons);
  app.add_option_function<std::vector<std::string>>(
         "--daemon-arg", [&daemons](const std::vector<std::string>& all) { request_in(daemons).arguments = all; },
         "An argument of the daemon, which must not be empty. May be repeated")
      ->type_name("ARG")
      ->group(option_group::daemons)
      ->allow_extra_args(false)
      ->needs(daemon);
}

void add_job_command_options(CLI::App& app, job_command_options& options, const char* timeout_about) {
  add_choice(app, "--then", options.after, then_choices,
             fmt::format("What happens to the job after the report. continue: it runs, and later events are reported "
                         "until the starter ends. detach: it runs without mpiacq. stop: it stays stopped for another "
                         "tool. kill: it is ended. Default: {}",
                         word_of(options.after)))
      ->group(option_group::job);
  add_timeout(app, options.timeout, timeout_about);
  add_rank_options(app, options,
                   "The ranks that --stacks, --queues, --each and --then stop apply to: 0-3,8, or 1:0-3 in a job of "
                   "several worlds, or comm:NAME for the members of a communicator of a running job. Default: all");
  add_each_options(app, options);
  app.add_flag("--stacks", options.stacks, "Add the stacks of the ranks to the report, as in 'mpiacq stacks'")
      ->group(option_group::stacks);
  add_threads_option(app, options.all_threads);
  app.add_flag("--queues", options.queues, "Add the message queues of the ranks to the report, as in 'mpiacq queues'")
      ->group(option_group::queues);
  add_daemon_options(app, options.daemons);
  app.add_flag_function(
         "--daemon-output", [&daemons = options.daemons](std::int64_t) { request_in(daemons).forward_output = true; },
         "Ask the starter to forward the daemons' output with the job's output")
      ->group(option_group::daemons)
      ->needs(app.get_option("--daemon"));
  add_report_options(app, options.report);
}

std::optional<std::string> contradiction_in(const job_command_options& options) {
  if (options.after == then::kill && !options.each.empty()) {
    return "--each runs commands while the job lives, and --then kill ends the job: choose one of them";
  }
  return std::nullopt;
}

job_options job_options_of(const job_command_options& options) {
  job_options how;
  how.debug_files = search_without_downloads(options.report);
  how.daemons = options.daemons;
  how.ranks = options.ranks.selection;
  how.interface = options.source;
  how.opens_gates_elsewhere = open_gates_elsewhere(options);
  return how;
}

}  // namespace mpiacq::tool
