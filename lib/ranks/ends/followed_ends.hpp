// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ends/end_signal.hpp"
#include "mpiacq/ranks/rank_end.hpp"

namespace mpiacq {

/// A rank, by its place, and the thread that has ended it.
struct ended_rank {
  std::size_t place = 0;
  thread_id thread;
};

/// The state of `node_ranks` while it follows its ranks to their ends.
struct followed_ends {
  bool is_on = false;
  end_signal signal;
  std::uint64_t kills_before = 0;  ///< `out_of_memory_kills` at the beginning
  /// Ranks that are held at their ends and have not been judged yet, by their places.
  std::vector<std::pair<std::size_t, process_ending>> pending;
  std::unordered_map<process_id, rank_end> known;  ///< of the ranks that are held at their ends
  std::vector<ended_rank> without_stack;           ///< failed ranks whose stacks are still to be taken
  // Since the last question:
  std::vector<rank_end> failed;
  rank_set ended;
  group_stacks stacks;
};

}  // namespace mpiacq
