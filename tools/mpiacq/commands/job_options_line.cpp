// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/job_options_line.hpp"

#include <algorithm>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "commands/command_help.hpp"

namespace mpiacq::tool {

namespace {

/// What most commands do waits for the disk and for the kernel; more of them would be in each other's way.
constexpr unsigned most_jobs = 8;

constexpr auto ranks_about =
    "The ranks to look at, as in 0-3,8, 1:0-3 where the job has several worlds, or comm:NAME for the members of a "
    "communicator; default: all";

void add_threads(CLI::App& command, std::string& threads) {
  command
      .add_option("--threads", threads, "Whose stacks: each rank's first thread (main, the default), or all of them")
      ->type_name("main|all")
      ->check(CLI::IsMember({"main", "all"}).description(""));
}

void add_interface(CLI::App& command, std::string& interface) {
  command
      .add_option("--interface", interface,
                  "How the starter tells of its processes. Default: MPI2DD where it is there, else MPIR")
      ->type_name("mpir|mpi2dd")
      ->check(CLI::IsMember({"mpir", "mpi2dd"}).description(""));
}

std::optional<interface_kind> chosen_interface(const std::string& word) {
  if (word.empty()) return std::nullopt;
  return word == "mpir" ? interface_kind::mpir : interface_kind::mpi2dd;
}

constexpr std::array agent_starts{agent_start::automatic, agent_start::mpir, agent_start::slurm, agent_start::ssh,
                                  agent_start::none};

void add_agents(CLI::App& command, std::string& word) {
  std::vector<std::string> words;
  for (const agent_start start : agent_starts) words.emplace_back(name(start));
  command
      .add_option("--agents", word,
                  "What starts an agent on each other node: mpir (the job's starter, as its tool daemons), slurm, ssh, "
                  "or none. Default: automatic, in this order, as far as the job has them")
      ->type_name("WAY")
      ->check(CLI::IsMember(words).description(""));
}

agent_start chosen_agents(const std::string& word) {
  const auto chosen =
      std::find_if(agent_starts.begin(), agent_starts.end(), [&](agent_start start) { return name(start) == word; });
  return chosen == agent_starts.end() ? agent_start::automatic : *chosen;
}

}  // namespace

void add_report_options(CLI::App& command, report_options& options) {
  command.add_flag("--json", options.json, "Report as JSON: one document for each event, a file holds the last");
  command.add_option("-o,--output", options.output, "Where the report goes; - is standard output")->type_name("FILE");
  command
      .add_option("--debug-dir", options.debug_folders,
                  "A folder with separate debug files, searched before /usr/lib/debug; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);  // one folder each time: the next word is not another
}

CLI::Option* add_timeout(CLI::App& command, double& seconds, const std::string& description) {
  return command.add_option("--timeout", seconds, description)
      ->type_name("SECONDS")
      ->check(CLI::Validator(CLI::PositiveNumber).description(""));
}

void add_queue_options(CLI::App& command, queue_request& request) {
  command
      .add_option("--library", request.library, "The message-queue library to ask, in place of the one each rank names")
      ->type_name("PATH");
  command.add_flag("--trust-library", request.trust_library,
                   "Load the library although others than root and the job's user could have written its file");
  command
      .add_option("--types", request.types,
                  "A file with the types of the MPI library, as 'mpiacq types' makes them, before all others")
      ->type_name("FILE");
}

std::optional<std::string> take_ranks(const std::string& words, rank_choice& ranks) {
  constexpr std::string_view prefix = "comm:";
  if (words.starts_with(prefix)) {
    ranks.communicator = words.substr(prefix.size());
    if (ranks.communicator.empty()) return "--ranks: comm: is followed by a communicator's name";
    return std::nullopt;
  }
  auto parsed = rank_selection::parse(words);
  if (!parsed) return "--ranks: " + parsed.error().message;
  ranks.ranks = std::move(*parsed);
  return std::nullopt;
}

void add_job_options(CLI::App& command, job_words& words, const char* verb, const char* timeout_about) {
  words.verb = verb;
  command
      .add_option("--then", words.verb,
                  fmt::format("What becomes of the job after the report: it goes on, and what else happens is reported "
                              "until the starter ends (continue); it goes on untraced (detach); it stays stopped for "
                              "another tool (stop); it is ended (kill). Default: {}",
                              verb))
      ->type_name("continue|detach|stop|kill")
      ->check(CLI::IsMember({"continue", "detach", "stop", "kill"}).description(""));
  words.timeout_given = add_timeout(command, words.timeout, timeout_about);
  command
      .add_option("--ranks", words.ranks,
                  "The ranks that --then stop leaves stopped, and that --stacks, --queues and --each are for, as in "
                  "0-3,8, 1:0-3 where the job has several worlds, or comm:NAME for the members of a communicator of a "
                  "running job; default: all")
      ->type_name("RANKS");
  add_interface(command, words.interface);
  command
      .add_option("--daemon", words.daemon,
                  "A program that the starter is to run once on each node of the job, with the rights to look at it")
      ->type_name("PATH");
  command
      .add_option("--daemon-arg", words.daemon_arguments,
                  "An argument of the daemon; may be repeated, none may be empty")
      ->type_name("ARG")
      ->allow_extra_args(false);
  command.add_flag("--daemon-output", words.daemon_output, "The daemons' output comes out with the job's");
  command
      .add_option("--each", words.each,
                  "A shell command to run for each rank of this node, with {rank}, {world}, {pid}, {host} and {exe} "
                  "replaced. What it prints comes out line by line, behind the rank")
      ->type_name("CMD");
  command
      .add_option("--jobs", words.jobs, "How many commands of --each run at a time; default: a processor each, up to 8")
      ->type_name("N")
      ->check(CLI::Validator(CLI::PositiveNumber).description(""));
  command.add_flag("--stacks", words.stacks, "The report has the ranks' stacks, as 'mpiacq stacks' shows them");
  add_threads(command, words.threads);
  command.add_flag("--queues", words.queues, "The report has the ranks' message queues, as 'mpiacq queues' shows them");
  add_queue_options(command, words.queue);
  add_agents(command, words.agents);
}

/// Into the options; a sentence where they make no sense together.
std::optional<std::string> take_job_options(const job_words& words, job_command_options& options) {
  const std::map<std::string, then> verbs = {
      {"continue", then::go_on}, {"detach", then::detach}, {"stop", then::stop}, {"kill", then::kill}};
  options.after = verbs.at(words.verb);
  if (words.timeout_given->count() != 0) options.timeout = words.timeout;
  rank_choice chosen;
  if (const auto wrong = take_ranks(words.ranks, chosen)) return wrong;
  options.ranks = std::move(chosen.ranks);
  options.communicator = std::move(chosen.communicator);
  options.queues = words.queues;
  options.queue = words.queue;
  options.agents = chosen_agents(words.agents);
  options.interface = chosen_interface(words.interface);
  options.each = words.each;
  options.jobs = words.jobs != 0 ? words.jobs : std::clamp(std::thread::hardware_concurrency(), 1U, most_jobs);
  options.stacks = words.stacks;
  options.all_threads = words.threads == "all";
  if (options.after == then::kill && !words.each.empty()) return "--each needs a job that --then does not end";
  if (words.jobs != 0 && words.each.empty()) return "--jobs needs an --each that it is for";
  if (words.daemon.empty() && (!words.daemon_arguments.empty() || words.daemon_output)) {
    return "--daemon-arg and --daemon-output need a --daemon that they are for";
  }
  if (!words.daemon.empty()) {
    options.daemons = mpir::daemon_request{words.daemon, words.daemon_arguments, words.daemon_output};
  }
  return std::nullopt;
}

CLI::App* add_queues_command(CLI::App& app, queues_words& words) {
  CLI::App* command = app.add_subcommand("queues", queues_about);
  command->footer(queues_details);
  add_report_options(*command, words.report);
  words.process_given =
      command->add_option("process", words.process, "The starter, or a process of its job")->type_name("PID");
  command->add_option("--ranks", words.ranks, ranks_about)->type_name("RANKS");
  add_interface(*command, words.interface);
  add_queue_options(*command, words.queue);
  command->add_flag("--verbose", words.verbose,
                    "For each operation also its status, its buffer, the actual message and the library's own lines");
  add_agents(*command, words.agents);
  add_timeout(*command, words.timeout, "Give up if the starter has no complete table after so long; default: 5");
  return command;
}

std::optional<std::string> take_queues_options(const queues_words& words, queues_options& options) {
  if (const auto wrong = take_ranks(words.ranks, options.ranks)) return wrong;
  options.report = words.report;
  options.interface = chosen_interface(words.interface);
  options.queue = words.queue;
  options.verbose = words.verbose;
  options.agents = chosen_agents(words.agents);
  options.timeout = words.timeout;
  return std::nullopt;
}

CLI::App* add_stacks_command(CLI::App& app, stacks_words& words) {
  CLI::App* command = app.add_subcommand("stacks", stacks_about);
  command->footer(stacks_details);
  add_report_options(*command, words.report);
  words.process_given =
      command->add_option("process", words.process, "The starter, or a process of its job")->type_name("PID");
  add_threads(*command, words.threads);
  command->add_option("--ranks", words.ranks, ranks_about)->type_name("RANKS");
  add_interface(*command, words.interface);
  add_queue_options(*command, words.queue);
  add_agents(*command, words.agents);
  command->add_flag("--folded", words.folded, "A line for each different stack with its count, for flame graphs");
  command->add_flag("--dot", words.dot, "The tree for Graphviz");
  command
      ->add_option("--samples", words.samples,
                   "Look so many times, and add up what was seen. The report marks what moved; default: 1")
      ->type_name("N")
      ->check(CLI::Validator(CLI::PositiveNumber).description(""));
  command->add_option("--interval", words.interval, "Seconds from one sample to the next; default: 0.1")
      ->type_name("SECONDS")
      ->check(CLI::Validator(CLI::NonNegativeNumber).description(""));
  add_timeout(
      *command, words.timeout,
      "Give up if the starter has no complete table after so long, or a rank that another tool holds is not let "
      "go; default: 5");
  return command;
}

std::optional<std::string> take_stacks_options(const stacks_words& words, stacks_options& options) {
  if (const auto wrong = take_ranks(words.ranks, options.ranks)) return wrong;
  if (int{words.report.json} + int{words.folded} + int{words.dot} > 1) {
    return "--json, --folded and --dot are three reports: choose one";
  }
  options.report = words.report;
  options.interface = chosen_interface(words.interface);
  options.queue = words.queue;
  options.all_threads = words.threads == "all";
  options.form = words.folded ? stacks_form::folded : words.dot ? stacks_form::dot : stacks_form::tree;
  options.agents = chosen_agents(words.agents);
  options.samples = words.samples;
  options.interval = words.interval;
  options.timeout = words.timeout;
  return std::nullopt;
}

CLI::App* add_graph_command(CLI::App& app, graph_words& words) {
  graph_command_options& options = words.options;
  CLI::App* command = app.add_subcommand("graph", graph_about);
  command->footer(graph_details);
  add_report_options(*command, options.report);
  command->add_option("subject", options.subject, "A process of the job, or the core file of one")
      ->type_name("PID|CORE");
  command->add_flag("--dot", options.dot, "The graph for Graphviz");
  add_agents(*command, words.agents);
  command->add_option("--executable", options.executable, "Of a core file: its program, if not the one the core names")
      ->type_name("FILE");
  command
      ->add_option("--sysroot", options.sysroot,
                   "Of a core file: a folder that stands for the root of the machine where it was made")
      ->type_name("DIR");
  return command;
}

graph_command_options taken_graph_options(const graph_words& words) {
  graph_command_options options = words.options;
  options.agents = chosen_agents(words.agents);
  return options;
}

}  // namespace mpiacq::tool
