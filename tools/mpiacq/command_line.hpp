// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mpiacq/tracer.hpp"

namespace mpiacq::tool {

/// What every subcommand that reports takes.
struct report_options {
  bool json = false;
  std::string output;  ///< -o; empty: the command's own stream; "-": standard output
  std::vector<std::string> debug_folders;
};

/// What becomes of the job once its processes have been reported.
enum class then : unsigned char { go_on, detach, stop, kill };

struct launch_options {
  report_options report;
  then after = then::go_on;
  std::optional<double> timeout;  ///< seconds
  std::vector<std::string> command;
};

struct inspect_options {
  report_options report;
  std::string subject;  ///< a file, or a process id
};

/// The command line was only a question, or wrong: everything has been printed.
struct finished {
  int status;
};

using invocation = std::variant<finished, launch_options, inspect_options>;

[[nodiscard]] invocation parse_command_line(int argc, char** argv);

}  // namespace mpiacq::tool
