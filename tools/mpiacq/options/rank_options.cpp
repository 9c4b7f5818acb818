// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "options/rank_options.hpp"

#include "mpiacq/base/host_names.hpp"
#include "options/option_parts.hpp"

namespace mpiacq::tool {

namespace {

constexpr choices<bool, 2> thread_choices = {{{"main", false}, {"all", true}}};
constexpr choices<interface_kind, 4> source_choices = {{{"mpir", interface_kind::mpir},
                                                        {"mpi2dd", interface_kind::mpi2dd},
                                                        {"pmix", interface_kind::pmix},
                                                        {"environment", interface_kind::environment}}};

/// "0-3,8", "all" or "comm:NAME".
rank_choice parse_rank_choice(const std::string& text) {
  constexpr std::string_view prefix = "comm:";
  rank_choice choice;
  if (text.starts_with(prefix)) {
    choice.communicator = text.substr(prefix.size());
    if (choice.communicator.empty()) throw CLI::ValidationError("--ranks", "comm: needs the name of a communicator");
    return choice;
  }
  auto parsed = rank_selection::parse(text);
  if (!parsed) throw CLI::ValidationError("--ranks", parsed.error().message);
  choice.selection = std::move(*parsed);
  return choice;
}

void add_queue_options(CLI::App& app, queue_request& request) {
  app.add_option("--library", request.library, "Ask this message-queue library instead of the one that each rank names")
      ->type_name("FILE")
      ->group(option_group::queues);
  app.add_flag("--trust-library", request.trust_library,
               "Load the library even if users other than root and the job's user can write its file")
      ->group(option_group::queues);
  app.add_option("--types", request.types,
                 "Look in FILE first for the types of the MPI library; 'mpiacq types' makes such files")
      ->type_name("FILE")
      ->group(option_group::queues);
}

}  // namespace

void add_agents_option(CLI::App& app, agent_start& agents) {
  choices<agent_start, 6> all = {{{"", agent_start::automatic},
                                  {"", agent_start::mpir},
                                  {"", agent_start::pmix},
                                  {"", agent_start::slurm},
                                  {"", agent_start::ssh},
                                  {"", agent_start::none}}};
  for (auto& [word, start] : all) word = name(start);
  add_choice(app, "--agents", agents, all,
             "How agents are started on the other nodes of the job: mpir (the job's starter launches them as tool "
             "daemons), pmix (the same by PMIx), slurm, ssh or none. Default: automatic, which tries mpir, slurm, ssh "
             "and pmix in this order")
      ->group(option_group::ranks);
}

void add_hosts_option(CLI::App& app, std::vector<std::string>& hosts) {
  app.add_option("--hosts", hosts,
                 "The hosts on which agents look for ranks that are not on this node, if the environment of the ranks "
                 "shows the job. Default: the hosts that its launcher names")
      ->type_name("HOST,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Validator(
          [](const std::string& host) {
            return is_host_name(host) ? std::string() : "\"" + host + "\" is no name of a host";
          },
          ""))
      ->group(option_group::ranks);
}

void add_threads_option(CLI::App& app, bool& all_threads) {
  add_choice(app, "--threads", all_threads, thread_choices,
             "The stacks of the first thread of each rank (main, the default), or of all threads")
      ->group(option_group::stacks);
}

void add_rank_options(CLI::App& app, rank_command_options& options, const char* ranks_about) {
  const auto take_ranks = [&options](const std::string& text) { options.ranks = parse_rank_choice(text); };
  app.add_option_function<std::string>("--ranks", take_ranks, ranks_about)
      ->type_name("RANKS")
      ->group(option_group::ranks);
  add_agents_option(app, options.agents);
  add_choice(
      app, "--source,--interface", options.source, source_choices,
      "Where the process table comes from: an interface of the starter (mpi2dd, mpir, pmix), or the variables that "
      "launchers set for ranks (environment). Default: the first of these that the job has. --interface is the "
      "old name")
      ->group(option_group::job);
  add_queue_options(app, options.queue);
}

void add_observation_options(CLI::App& app, observation_options& options) {
  add_job_operand(app, options.job);
  add_rank_options(app, options,
                   "The ranks to look at: 0-3,8, or 1:0-3 in a job of several worlds, or comm:NAME for the members of "
                   "a communicator. Default: all");
  add_hosts_option(app, options.hosts);
  add_timeout(app, options.timeout,
              "Give up if the starter has no complete process table within this time, or if another tool holds a rank "
              "for longer. Default: 5");
  add_report_options(app, options.report);
}

}  // namespace mpiacq::tool
