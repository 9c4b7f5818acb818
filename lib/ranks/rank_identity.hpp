// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Verifies that the process with a rank's pid is that rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "descriptors/unique_fd.hpp"
#include "node_ranks.hpp"

namespace mpiacq {

/// The facts of a rank's process. All of them belong to one process, even if the pid is reused meanwhile.
struct rank_identity {
  base::unique_fd process;  ///< a pidfd; closed if this program has too many descriptors already
  std::uint64_t start_time = 0;
  hold_state state = hold_state::held;  ///< the best that a hold can achieve
  std::optional<error> why;
};
/// `compare`: also compares the process's executable and environment with the rank.
[[nodiscard]] rank_identity identify(const rank_process& rank, bool compare);

/// The facts of a process that confirm or contradict that it is a rank.
struct rank_evidence {
  std::string executable;                  ///< empty if it cannot be read
  std::optional<std::string> environment;  ///< strings that end with null bytes; empty if it cannot be read
  std::string command_line;                ///< its arguments, in the same form
};
/// Why the process is not that rank; empty if it may be. A different program name alone proves nothing: a script runs
/// as its interpreter, and a wrapper executes another program.
[[nodiscard]] std::optional<std::string> why_not_rank(const rank_process& rank, const rank_evidence& evidence);

/// The start time of the process with this pid (`process_stat::start_time`); empty if there is none.
[[nodiscard]] std::optional<std::uint64_t> start_time_of(process_id pid);

}  // namespace mpiacq
