// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Whether the process that has a rank's number is that rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "descriptors/unique_fd.hpp"
#include "node_ranks.hpp"

namespace mpiacq {

/// What is known of the process of a rank. All of it is of one process, even if the number goes to another meanwhile.
struct rank_identity {
  base::unique_fd process;  ///< a pidfd; closed if this program has too many descriptors already
  std::uint64_t start_time = 0;
  hold_state state = hold_state::held;  ///< the best that a hold can achieve
  std::optional<error> why;
};
/// `compare`: also compares what the process executes and what its environment says with the rank.
[[nodiscard]] rank_identity identify(const rank_process& rank, bool compare);

/// The facts of a process that confirm or contradict that it is a rank.
struct rank_evidence {
  std::string executable;                  ///< empty if it cannot be read
  std::optional<std::string> environment;  ///< strings that end with null bytes; empty if it cannot be read
  std::string command_line;                ///< the same for its arguments
};
/// Why the process is not that rank; empty if it may be. Another program's name alone is no proof: a script runs as its
/// interpreter, and a wrapper executes another program.
[[nodiscard]] std::optional<std::string> why_not_rank(const rank_process& rank, const rank_evidence& evidence);

/// When the process that has this number was started (`process_stat::start_time`); empty if there is none.
[[nodiscard]] std::optional<std::uint64_t> start_time_of(process_id pid);

}  // namespace mpiacq
