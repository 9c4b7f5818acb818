// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "rank_claims.hpp"

namespace mpiacq {

/// A rank of this node.
struct environment_rank {
  std::int32_t rank = 0;
  process_id pid;
  std::uint64_t start_time = 0;
  std::string executable;  ///< empty if it cannot be read
};

/// The ranks of this node that share an MPI_COMM_WORLD, or what stands for one.
struct environment_world {
  std::string id;                           ///< as the launcher names it; empty where it does not
  std::optional<std::uint64_t> size;        ///< the number of ranks on all nodes, if the launcher states it
  std::optional<std::uint64_t> local_size;  ///< the number of ranks that the launcher started on this node
  std::vector<environment_rank> ranks;      ///< in order, each number once
  bool is_spawned = false;                  ///< MPI_Comm_spawn made it
  /// What names the world on each node of the job, with its user; empty: nothing does. It has bytes of any value.
  std::string key;
};

/// What is wrong with a world does not end the look: a problem is kept, and so is everything else. So many are kept.
inline constexpr std::size_t most_environment_problems = 32;

/// Makes a world of claims with one key, which are at least one. The oldest process with a number is the rank.
[[nodiscard]] environment_world world_of(std::vector<rank_claim> claims, std::vector<error>& problems);

/// Claims with the same variables that different starters have made: two of them that state the same number under
/// different starters belong to two jobs. A single group where that is not so.
[[nodiscard]] std::vector<std::vector<rank_claim>> split_by_starters(std::vector<rank_claim> claims);

/// The worlds of some keys (`environment_world::key`) on this node, in the order of the keys; those without ranks here
/// are empty. A key names its user, so that no process of another user counts. `proc`: for tests, a folder instead of
/// /proc.
[[nodiscard]] std::vector<environment_world> worlds_with_keys(std::span<const std::string> keys,
                                                              const std::string& proc = proc_folder);

/// Adds a problem unless there are too many.
void add_problem(std::vector<error>& problems, error_code code, std::string sentence);

}  // namespace mpiacq
