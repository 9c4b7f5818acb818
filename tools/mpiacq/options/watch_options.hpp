// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "options/job_command_options.hpp"

namespace mpiacq::tool {

/// Which core files are written when a rank has failed.
enum class core_choice : unsigned char {
  none,
  first,  ///< of one rank that has failed by itself
  odd,    ///< of all ranks that have failed by themselves
  all,    ///< of all ranks
};

/// When a job is reported, where, and what follows.
struct watch_request {
  std::optional<double> hang;     ///< seconds without movement; empty: this is no reason
  std::optional<double> timeout;  ///< seconds since the start; empty: the same
  bool batch_limit = false;       ///< --timeout auto: `timeout` comes from the batch system
  std::string limit;              ///< with batch_limit: "60 s before the time limit of Slurm job 42"
  int signal = 0;                 ///< a signal that asks for a report; 0: none
  std::optional<double> every;    ///< seconds between the samples of the history; empty: none are taken
  bool crash = false;             ///< a rank that fails is a reason
  core_choice cores = core_choice::none;
  std::string folder;  ///< for the reports; empty: text on standard error
  std::string junit;   ///< a JUnit file; empty: none
};

struct watch_options : launch_options {
  watch_request watch;
  std::optional<job_operand> job;  ///< empty, and no starter: the only job on this node
};

void add_watch_options(CLI::App& app, watch_options& options);
/// A sentence if the options contradict each other or if nothing is to be watched for.
[[nodiscard]] std::optional<std::string> mistake_in(const watch_options& options);

}  // namespace mpiacq::tool
