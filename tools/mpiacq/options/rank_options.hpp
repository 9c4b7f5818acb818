// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/ranks/agents_options.hpp"
#include "mpiacq/ranks/rank_selection.hpp"
#include "options/option_parts.hpp"
#include "options/report_options.hpp"

namespace mpiacq::tool {

/// The queue library to use, and the source of its types.
struct queue_request {
  std::string library;         ///< empty: the library that each rank names
  bool trust_library = false;  ///< load it even if users other than root and the job's user can write its file
  std::string types;           ///< a file of types; empty: debug information, and type carriers
  /// The reason why the job's starter asks tools not to load a library (see `request_for`); empty: it allows one.
  std::string no_library = {};
};

/// The user's choice of ranks: a list, or the members of a communicator, which are read from the running job.
struct rank_choice {
  rank_selection selection;
  std::string communicator;  ///< "comm:NAME"; empty: none
};

/// The options of every command that reads ranks: the choice of ranks, and the way to reach them.
struct rank_command_options {
  rank_choice ranks;
  std::optional<interface_kind> source;  ///< empty: the most capable one that the job has
  queue_request queue;
  agent_start agents = agent_start::automatic;
  std::vector<std::string> hosts;  ///< the environment of ranks: where agents look for the others
};
/// `ranks_about`: the help text of --ranks.
void add_rank_options(CLI::App& app, rank_command_options& options, const char* ranks_about);

/// The options of the commands that observe the ranks of a running job and do not control the job.
struct observation_options : rank_command_options {
  report_options report;
  std::optional<job_operand> job;  ///< empty: the only job on this node
  double timeout = 5;              ///< seconds
};
void add_observation_options(CLI::App& app, observation_options& options);

/// --threads
void add_threads_option(CLI::App& app, bool& all_threads);
/// --hosts, for a job that runs already
void add_hosts_option(CLI::App& app, std::vector<std::string>& hosts);
/// --agents
void add_agents_option(CLI::App& app, agent_start& agents);

}  // namespace mpiacq::tool
