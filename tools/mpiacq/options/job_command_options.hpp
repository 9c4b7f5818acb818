// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "mpiacq/job/job.hpp"
#include "mpiacq/mpir/mpir_daemons.hpp"
#include "mpiacq/process/core_file.hpp"
#include "options/rank_options.hpp"
#include "options/starter_line.hpp"

namespace mpiacq::tool {

/// The next step for the job after its processes have been reported.
enum class then : unsigned char { go_on, detach, stop, kill };

/// As many commands as there are processors, within bounds.
[[nodiscard]] std::size_t default_jobs();

/// The options that `launch` and `attach` share.
struct job_command_options : rank_command_options {
  report_options report;
  then after = then::go_on;
  std::optional<double> timeout;  ///< seconds
  std::optional<mpir::daemon_request> daemons;
  std::string each;  ///< a command for each rank; empty: none
  std::size_t jobs = default_jobs();
  bool stacks = false;
  bool all_threads = false;
  bool queues = false;
};

struct launch_options : job_command_options {
  starter_line starter;
};

struct attach_command_options : job_command_options {
  std::optional<job_operand> job;  ///< empty: the only job on this node
  std::string core;                ///< a core file of the starter in place of a process; empty: none
  core_file_options core_files;
};

/// The default of --then is the value in `options`.
void add_job_command_options(CLI::App& app, job_command_options& options, const char* timeout_about);
/// --daemon and --daemon-arg.
void add_daemon_options(CLI::App& app, std::optional<mpir::daemon_request>& daemons);

/// A sentence if the options contradict each other.
[[nodiscard]] std::optional<std::string> contradiction_in(const job_command_options& options);

/// The options of the library's `job`.
[[nodiscard]] job_options job_options_of(const job_command_options& options);

}  // namespace mpiacq::tool
