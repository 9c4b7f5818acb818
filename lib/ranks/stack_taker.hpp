// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "mpiacq/process/code_catalogue.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/ranks/rank_options.hpp"
#include "rank_stacks.hpp"
#include "rank_stopper.hpp"
#include "rank_walker.hpp"

namespace mpiacq {

/// A rank whose stacks are wanted.
struct wanted_rank {
  entry_index entry;
  attach_target process;
  std::uint32_t number = 0;        ///< in its world; beyond MPI_COMM_WORLD, for a spawned process, its identity
  bool held = false;               ///< the same stopper holds it already: it is neither held nor released here
  bool stopped_by_signal = false;  ///< queues only: a signal has stopped it, until SIGCONT
};

/// Takes the stacks of processes, repeatedly: stops all of them together, copies their stacks, releases them, and only
/// then unwinds the copies and names the frames. The module data is shared by all processes and kept.
class stack_taker {
 public:
  stack_taker(rank_stopper& grip, debug_file_search search);

  [[nodiscard]] node_stacks take(std::span<const wanted_rank> ranks, const stack_options& options);
  /// The first `count` arguments of the call that made frame number `frame` of a thread whose stack `take` has taken.
  /// The rank is held since then. Errors: as `rank_walker::arguments`.
  [[nodiscard]] result<call_arguments> arguments(process_id pid, thread_id thread, std::size_t frame,
                                                 std::size_t count);

  /// The executable mappings of a process whose stack `take` has taken, in the order of addresses. Valid until the next
  /// look at the process.
  [[nodiscard]] std::span<const code_range> code_of(process_id pid) { return walker_of(pid).code(); }

 private:
  /// The progress of one rank.
  struct pending {
    const wanted_rank* rank = nullptr;
    rank_walker* walker = nullptr;
    result<void> taken;
    std::vector<raw_stack> stacks;
    bool taken_here = false;  ///< it is held for this look only, and released after it
    bool again = false;       ///< its stacks did not fit into a copy: it must be walked while it is held
  };

  [[nodiscard]] rank_walker& walker_of(process_id pid);
  /// Holds the ranks that need a look (a second one if `again`), calls `look` for each with its registers, and releases
  /// them. Returns the time that this took.
  template <class Look>
  clock::duration while_held(std::vector<pending>& all, bool again, which_threads which, Look look);
  static void disbelieve_if_lost(std::span<pending* const> looked_at, std::vector<result<void>> let_go);
  void walk_all(std::vector<pending>& all, const walk_options& options);
  void expect_names(const rank_walker& walker, std::span<const target_address> program_counters);
  [[nodiscard]] std::vector<rank_stacks> named(std::vector<pending> all, bool with_positions);

  rank_stopper& grip_;
  std::shared_ptr<unwind_tables> tables_ = std::make_shared<unwind_tables>();
  std::shared_ptr<module_catalogue> modules_ = std::make_shared<module_catalogue>();
  std::vector<std::byte> copy_room_;  ///< all ranks use it, one after the other
  code_catalogue catalogue_;
  std::map<process_id, std::unique_ptr<rank_walker>> walkers_;
  bool expects_names_ = false;  ///< names are being looked up before they are needed
  std::size_t problems_told_ = 0;
};

}  // namespace mpiacq
