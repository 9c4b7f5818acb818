// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The agent of a node, for programs that run as one.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"

namespace mpiacq {

/// What an agent is told when it is started. It contains no secret, so it may be on a command line.
struct agent_order {
  std::vector<std::string> endpoints;  ///< of the front end, "tcp://10.0.0.1:40123", which are tried in turn
  std::string front_end_key;           ///< the public key of the front end for this run, 64 hexadecimal digits
  /// How to prove the identity of the user: "munge", "munge:SOCKET", or "file:PATH" with a secret that only the user
  /// can read. A path that begins with "~/" is below the home directory in the password database.
  std::string proof;
  std::string node;  ///< the name of this node in the process table, if the way of starting knows it; else empty
  /// The agent ends after this time, whatever happens; 0: never.
  std::chrono::seconds at_most{0};
};

/// Parses `--to`, `--key`, `--proof`, `--node` and `--at-most`, each followed by its value. Errors: invalid_argument
/// with the invalid part.
[[nodiscard]] result<agent_order> parse_agent_order(const std::vector<std::string>& arguments);
/// The arguments that `parse_agent_order` parses.
[[nodiscard]] std::vector<std::string> arguments_of(const agent_order& order);

/// The paths of the programs that an agent starts; empty: those that are installed with the library.
struct agent_programs {
  std::string tracer;
  std::string queue_host;
};

/// Runs as the agent of this node until the front end ends, no agent on the way to it answers, `at_most` has passed, or
/// the descriptor `stop` is readable (-1: none). Ranks are left as they were found. Errors: permission (the proof
/// cannot be made or was refused), timed_out (the front end does not answer), system. Thread: the caller's, and one
/// more for the ranks.
[[nodiscard]] result<void> run_agent(const agent_order& order, const agent_programs& programs = {}, int stop = -1);

}  // namespace mpiacq
