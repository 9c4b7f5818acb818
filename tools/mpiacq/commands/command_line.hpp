// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "commands/types_command.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/mpir/mpir_daemons.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/ranks/job_ranks.hpp"
#include "mpiacq/ranks/rank_selection.hpp"

namespace mpiacq::tool {

/// What every subcommand that reports takes.
struct report_options {
  bool json = false;
  std::string output;  ///< -o; empty: the command's own stream; "-": standard output
  std::vector<std::string> debug_folders;
};

/// Which queue library is asked, and where it gets its types from.
struct queue_request {
  std::string library;         ///< empty: what each rank names
  bool trust_library = false;  ///< also where others than root and the job's user could have written it
  std::string types;           ///< a file of types; empty: debug information, and carriers that were made
  std::string no_library =
      {};  ///< why the job's starter wants none to be loaded (queues_request_for); empty: it does not
};

/// Which ranks: those that were named, or the members of a communicator, which are found out from the running job.
struct rank_choice {
  rank_selection ranks;
  std::string communicator;  ///< "comm:NAME"; empty: none
};

/// What becomes of the job once its processes have been reported.
enum class then : unsigned char { go_on, detach, stop, kill };

/// What launch and attach take both.
struct job_command_options {
  report_options report;
  then after = then::go_on;
  std::optional<double> timeout;  ///< seconds
  rank_selection ranks;
  std::optional<interface_kind> interface;  ///< empty: whichever is there
  std::string communicator;                 ///< `attach`: whose members `ranks` is to be
  std::optional<mpir::daemon_request> daemons;
  std::string each;  ///< a command for each rank; empty: none
  std::size_t jobs = 1;
  bool stacks = false;
  bool all_threads = false;
  bool queues = false;
  queue_request queue;
  agent_start agents = agent_start::automatic;
};

struct launch_options : job_command_options {
  std::vector<std::string> command;
};

struct attach_command_options : job_command_options {
  process_id process;
};

struct check_options {
  report_options report;
  std::optional<double> timeout;  ///< seconds
  std::vector<std::string> command;
  std::optional<std::int64_t> pid;  ///< instead of a command: a running starter
  std::string daemon;               ///< empty: none is asked for
  std::vector<std::string> daemon_arguments;
};

struct inspect_options {
  report_options report;
  std::string subject;  ///< a file, or a process id
};

/// How `stacks` reports where it does not so as JSON.
enum class stacks_form : unsigned char { tree, folded, dot };

struct stacks_options {
  report_options report;
  process_id process;
  rank_choice ranks;
  queue_request queue;  ///< for the members of a communicator
  bool all_threads = false;
  stacks_form form = stacks_form::tree;
  std::optional<interface_kind> interface;  ///< as for launch and attach
  agent_start agents = agent_start::automatic;
  std::size_t samples = 1;
  double interval = 0;  ///< seconds
  double timeout = 0;   ///< seconds
};

/// `graph`.
struct graph_command_options {
  report_options report;
  std::string subject;  ///< a process id, or a core file
  bool dot = false;
  std::string executable;  ///< of a core file: the process's program, where it is not the one that the core names
  std::string sysroot;     ///< of a core file: a folder to find its files in
  agent_start agents = agent_start::automatic;
};

/// `queues`.
struct queues_options {
  report_options report;
  process_id process;
  rank_choice ranks;
  std::optional<interface_kind> interface;  ///< as for launch and attach
  queue_request queue;
  bool verbose = false;  ///< all that the queue library says of each operation
  agent_start agents = agent_start::automatic;
  double timeout = 0;  ///< seconds
};

/// `attach --core`.
struct core_report_options {
  report_options report;
  std::string core;
  std::string executable;  ///< the starter's file, where it is not the one that the core names
  std::string sysroot;     ///< a folder to find its files in
};

/// The command line was only a question, or wrong: everything has been printed.
struct finished {
  int status;
};

using invocation = std::variant<finished, launch_options, attach_command_options, core_report_options, check_options,
                                inspect_options, stacks_options, graph_command_options, queues_options, types_options>;

[[nodiscard]] invocation parse_command_line(int argc, char** argv);

}  // namespace mpiacq::tool
