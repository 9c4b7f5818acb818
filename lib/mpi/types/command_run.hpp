// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "mpiacq/base/error.hpp"

namespace mpiacq::carriers {

struct command_outcome {
  int exit_status = 0;  ///< 128 + signal if a signal ended it
  std::string out;      ///< the first megabyte
  std::string err;
};

/// The path of a program from PATH; a name with a slash is a path itself. Empty if there is none.
[[nodiscard]] std::string find_in_path(const std::string& name);

/// Runs a program to its end, without input. Errors: not_found, exec_failed, timed_out (the program was killed),
/// system.
[[nodiscard]] result<command_outcome> run_to_end(std::vector<std::string> words, std::chrono::milliseconds limit);

}  // namespace mpiacq::carriers
