// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node_processes.hpp"

namespace mpiacq {

/// A process that its launcher started as a rank: no process that the rank has forked, and no program of a launcher.
struct rank_claim {
  const stating_process* process = nullptr;  ///< of the `node_processes`
  const launcher_statement* statement = nullptr;
  std::optional<std::int32_t> rank;  ///< empty: the variable is no number of a rank
  /// The nearest ancestors that run a program of the launcher.
  std::optional<process_id> starter;
  std::optional<process_id> daemon;
  /// The same in all claims of one world of one job.
  std::string key;
  /// The key is made of what the launcher sets on all nodes, so that it is the same on each of them.
  bool is_known_elsewhere = false;

  /// The process that tells jobs apart whose variables are the same.
  [[nodiscard]] std::optional<process_id> launched_by() const { return starter ? starter : daemon; }
};

/// One claim at most of each process: a process that has the variables of several launchers is a rank of the innermost
/// one, which set them anew. In the order of pids.
[[nodiscard]] std::vector<rank_claim> rank_claims_in(node_processes& node);

}  // namespace mpiacq
