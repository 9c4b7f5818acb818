// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Whether the process with a rank's number is that rank.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/ranks/node_ranks.hpp"

namespace mpiacq {

/// What is known of the process behind a rank, all of it of one process, though numbers may change owners meanwhile.
struct rank_identity {
  base::unique_fd process;  ///< a pidfd; closed where this program has too many descriptors already
  std::uint64_t start_time = 0;
  hold_state state = hold_state::held;  ///< what a hold can come to, as far as this tells
  std::optional<error> why;
};
/// `compare`: what it runs and what its environment says, beside that it lives.
[[nodiscard]] rank_identity identify(const rank_process& rank, bool compare);

/// The process's own facts that speak for or against it.
struct rank_evidence {
  std::string executable;                  ///< what it runs; empty where that may not be known
  std::optional<std::string> environment;  ///< of its start, with null bytes between; empty where it may not be read
  std::string command_line;                ///< the same of its arguments
};
/// Why it is not that rank; empty where it is. A program's name alone is no proof against it: a script has its
/// interpreter's, and a wrapper execs another.
[[nodiscard]] std::optional<std::string> why_not_rank(const rank_process& rank, const rank_evidence& evidence);

/// When the process of this number was started (/proc/PID/stat, field 22); empty where there is none.
[[nodiscard]] std::optional<std::uint64_t> start_time_of(process_id pid);

}  // namespace mpiacq
