// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"

namespace mpiacq {

/// What an agent is told when it is started. Nothing of it is secret: it may stand on a command line.
struct agent_order {
  std::vector<std::string> endpoints;  ///< of the front end, "tcp://10.0.0.1:40123": tried in turn
  std::string front_end_key;           ///< its public key for this run, 64 hexadecimal digits
  /// How to prove who one is: "munge", "munge:SOCKET", or "file:PATH" of a secret that only the user can read; a path
  /// that begins with "~/" is below the user's home directory, as the password database has it.
  std::string proof;
  std::string node;  ///< the name that whoever started it has for this node; empty: none
  /// The agent ends after that, whatever happens; 0: never.
  std::chrono::seconds at_most{0};
};

/// `--to`, `--key`, `--proof`, `--node`, `--at-most`, each with its value behind it. Errors: invalid_argument with the
/// part that is wrong.
[[nodiscard]] result<agent_order> parse_agent_order(const std::vector<std::string>& arguments);
[[nodiscard]] std::vector<std::string> arguments_of(const agent_order& order);

/// The programs that an agent starts for itself, as paths; empty: those that are installed with the library.
struct agent_programs {
  std::string tracer;
  std::string queue_host;
};

/// Is the agent of this node, until the front end, everybody on the way to it, or `at_most` ends, or `stop` can be read
/// (a descriptor; -1: none). Ranks are left as they were found. Errors: permission (the proof cannot be made, or was
/// refused), timed_out (the front end does not answer), and what keeps it from beginning.
/// Thread: the caller's, and one of its own for the ranks.
[[nodiscard]] result<void> run_agent(const agent_order& order, const agent_programs& programs = {}, int stop = -1);

}  // namespace mpiacq
