// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "ends/followed_ends.hpp"
#include "node_ranks.hpp"
#include "queue_taker.hpp"
#include "rank_identity.hpp"
#include "stack_taker.hpp"

namespace mpiacq {

/// The data that the parts of node_ranks share: the ranks and the state of each.
struct node_ranks::state {
  struct rank_here {
    rank_identity identity;
    rank_hold hold;
    std::unique_ptr<process_memory> memory;  ///< made at the first read
    bool held = false;
    bool asked = false;                 ///< the request under way includes this rank
    bool at_end = false;                ///< it is held just before its end
    bool in_group_stop = false;         ///< of a rank that is held or followed: a signal has stopped it
    std::optional<error> not_followed;  ///< why its end will not be reported
  };

  std::unique_ptr<rank_stopper> grip;
  std::vector<rank_process> ranks;
  std::vector<rank_here> here;  ///< one for each rank
  std::unordered_map<process_id, std::size_t> place_of;
  debug_file_search debug_files;
  std::unique_ptr<stack_taker> stacks;  ///< made by the first `stacks`
  std::unique_ptr<queue_taker> queues;  ///< made by the first `queues`
  followed_ends ends;

  /// A rank that is held, with what is needed to read it.
  struct held_rank {
    const rank_process& rank;
    process_memory& memory;
    std::span<const thread_registers> threads;  ///< those that have stopped
  };
  /// Calls `with` for every rank that is held, in order.
  void for_each_held(which_threads which, const std::function<void(const held_rank&)>& with);

  static std::unique_ptr<state> make(std::unique_ptr<rank_stopper> grip, std::vector<rank_process> ranks, bool compare);
  void look_for_ends();
  void take_hold();
  /// Its end is awaited by the tracer, which thus traces it while it runs.
  [[nodiscard]] bool is_followed(const rank_here& rank) const;
  void note(std::size_t place, result<void> outcome);
  void take_events();
  /// The ranks of a selection that can be looked at, and the reason for each of the others.
  struct chosen {
    std::vector<wanted_rank> wanted;
    std::vector<std::pair<rank_process, error>> refused;
  };
  [[nodiscard]] chosen choose(const rank_selection& selection);
  /// Whether a signal has stopped the rank, so that it does nothing until SIGCONT. On a busy machine, a SIGSTOP may be
  /// on its way for long: it counts.
  [[nodiscard]] bool is_stopped_by_signal(process_id pid) const;
  [[nodiscard]] group_queues read_queues(const rank_queue_options& options);
  [[nodiscard]] node_stacks take_stacks(const stack_options& options);
  /// Releases the ranks that an interrupted look has held. Ranks that the caller holds stay held.
  void let_go_of_others();
  // ends/node_ends.cpp
  void follow_ends(const follow_options& options);
  void unfollow_ends();
  void serve_ends();
  void note_end(std::size_t place, const process_ending& how);
  [[nodiscard]] bool judge_ends();
  [[nodiscard]] node_stacks end_stacks_of(std::span<const ended_rank> ended);
  // ends/core_files.cpp
  [[nodiscard]] result<rank_core> write_core_of(std::size_t place, const rank_core_options& options);
  /// The processes that are held. Marks them as asked.
  [[nodiscard]] std::vector<process_id> held_ones();
};

}  // namespace mpiacq
