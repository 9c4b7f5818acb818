// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The stacks of a node's ranks.
#include <algorithm>
#include <utility>

#include "argument_taker.hpp"
#include "errors/no_exceptions.hpp"
#include "node_ranks_state.hpp"
#include "proc/time_to_run.hpp"

namespace mpiacq {

namespace {

/// Refuses the ranks that a signal has stopped. Both lists stay in the order of ranks.
template <class IsStopped>
void leave_stopped(std::vector<wanted_rank>& wanted, std::vector<rank_stacks>& refused, IsStopped is_stopped) {
  std::vector<wanted_rank> others;
  for (const wanted_rank& rank : wanted) {
    if (rank.held || !is_stopped(rank.process.process)) {
      others.push_back(rank);
      continue;
    }
    rank_stacks left{rank.entry,
                     rank.process.process,
                     fail(error_code::busy, "a signal has stopped it, and it is left as it is"),
                     {}};
    left.stopped = true;
    const auto behind =
        std::find_if(refused.begin(), refused.end(), [&](const rank_stacks& one) { return rank.entry < one.entry; });
    refused.insert(behind, std::move(left));
  }
  wanted = std::move(others);
}

/// Lets the ranks run first. A rank that the caller holds cannot.
std::vector<bool> let_run(std::span<const wanted_rank> ranks, clock::duration time) {
  constexpr std::chrono::seconds most{3};
  std::vector<process_id> free;
  for (const wanted_rank& rank : ranks) {
    if (!rank.held) free.push_back(rank.process.process);
  }
  const std::vector<bool> of_free = have_run(free, time, most);
  std::vector<bool> all;
  auto next = of_free.begin();
  for (const wanted_rank& rank : ranks) all.push_back(!rank.held && *next++);
  return all;
}

}  // namespace

node_stacks node_ranks::stacks(const stack_options& options) {
  return without_exceptions(
      "taking stacks", [&] { return state_->take_stacks(options); }, [&] { state_->let_go_of_others(); });
}

node_stacks node_ranks::state::take_stacks(const stack_options& options) {
  auto [wanted, no_stacks] = choose(options.ranks);
  std::vector<rank_stacks> refused;
  for (const auto& [rank, why] : no_stacks) refused.push_back({rank.entry, rank.pid, fail(why), {}});
  if (options.leave_stopped)
    leave_stopped(wanted, refused, [this](process_id pid) { return is_stopped_by_signal(pid); });
  std::vector<bool> has_run(wanted.size(), true);
  if (options.run_first > clock::duration::zero()) has_run = let_run(wanted, options.run_first);
  if (!stacks) stacks = std::make_unique<stack_taker>(*grip, debug_files);
  node_stacks taken = options.arguments ? take_with_arguments(*grip, *stacks, wanted, options, debug_files)
                                        : stacks->take(wanted, options);
  for (std::size_t i = 0; i < taken.ranks.size(); ++i) taken.ranks[i].has_run = has_run[i];
  // Discards events of processes that the tracer has released by now.
  take_events();
  // The result is in the order of the ranks.
  std::vector<rank_stacks> all;
  auto no = refused.begin();
  for (rank_stacks& yes : taken.ranks) {
    while (no != refused.end() && no->entry < yes.entry) all.push_back(std::move(*no++));
    all.push_back(std::move(yes));
  }
  all.insert(all.end(), std::make_move_iterator(no), std::make_move_iterator(refused.end()));
  taken.ranks = std::move(all);
  return taken;
}

}  // namespace mpiacq
