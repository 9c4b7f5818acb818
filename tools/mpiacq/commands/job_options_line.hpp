// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The parts of a command line that more than one command has.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "commands/command_line.hpp"

namespace mpiacq::tool {

void add_report_options(CLI::App& command, report_options& options);
/// A positive number of seconds.
CLI::Option* add_timeout(CLI::App& command, double& seconds, const std::string& description);

/// Which queue library is asked, as it is parsed: --library, --trust-library, --types.
void add_queue_options(CLI::App& command, queue_request& request);

/// "0-3,8", "all" or "comm:NAME". A sentence where it is none of them.
[[nodiscard]] std::optional<std::string> take_ranks(const std::string& words, rank_choice& ranks);

/// What launch and attach share, as it is parsed.
struct job_words {
  std::string verb;
  double timeout = 0;
  CLI::Option* timeout_given = nullptr;
  std::string ranks = "all";
  std::string interface;  ///< empty: whichever is there
  std::string daemon;
  std::vector<std::string> daemon_arguments;
  bool daemon_output = false;
  std::string each;
  std::size_t jobs = 0;
  bool stacks = false;
  std::string threads = "main";
  bool queues = false;
  queue_request queue;
  std::string agents = "automatic";
};
void add_job_options(CLI::App& command, job_words& words, const char* verb, const char* timeout_about);
/// Into the options; a sentence where they make no sense together.
[[nodiscard]] std::optional<std::string> take_job_options(const job_words& words, job_command_options& options);

/// `stacks`, as it is parsed.
struct stacks_words {
  std::int64_t process = 0;
  CLI::Option* process_given = nullptr;
  report_options report;
  std::string ranks = "all";
  queue_request queue;
  std::string interface;
  std::string threads = "main";
  bool folded = false;
  bool dot = false;
  std::string agents = "automatic";
  std::size_t samples = 1;
  double interval = 0.1;
  double timeout = 5;
};
/// `queues`, as it is parsed.
struct queues_words {
  std::int64_t process = 0;
  CLI::Option* process_given = nullptr;
  report_options report;
  std::string ranks = "all";
  std::string interface;
  queue_request queue;
  bool verbose = false;
  std::string agents = "automatic";
  double timeout = 5;
};
CLI::App* add_queues_command(CLI::App& app, queues_words& words);
/// As take_stacks_options.
[[nodiscard]] std::optional<std::string> take_queues_options(const queues_words& words, queues_options& options);

CLI::App* add_stacks_command(CLI::App& app, stacks_words& words);
/// As take_job_options. The process is taken by whoever knows what stands behind "--".
[[nodiscard]] std::optional<std::string> take_stacks_options(const stacks_words& words, stacks_options& options);

/// `graph`, as it is parsed.
struct graph_words {
  graph_command_options options;
  std::string agents = "automatic";
};
CLI::App* add_graph_command(CLI::App& app, graph_words& words);
[[nodiscard]] graph_command_options taken_graph_options(const graph_words& words);

}  // namespace mpiacq::tool
