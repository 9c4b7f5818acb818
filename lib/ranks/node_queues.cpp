// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The message queues of a node's ranks.
#include <utility>

#include "errors/no_exceptions.hpp"
#include "mpiacq/ranks/rank_report.hpp"
#include "node_ranks_state.hpp"

namespace mpiacq {

group_queues node_ranks::queues(const rank_queue_options& options) {
  return without_exceptions(
      "reading message queues", [&] { return state_->read_queues(options); }, [&] { state_->let_go_of_others(); });
}

group_queues node_ranks::state::read_queues(const rank_queue_options& options) {
  auto [wanted, refused] = choose(options.ranks);
  for (wanted_rank& rank : wanted) rank.stopped_by_signal = is_stopped_by_signal(rank.process.process);
  if (!stacks) stacks = std::make_unique<stack_taker>(*grip, debug_files);
  if (!queues) queues = std::make_unique<queue_taker>(*grip, *stacks);
  group_queues taken = queues->take(wanted, options);
  // Discards events of processes that the tracer has released by now.
  take_events();
  if (refused.empty()) return taken;

  // The result is in the order of the ranks.
  group_queues all = std::move(taken);
  std::vector<rank_report> sorted;
  auto no = refused.begin();
  const auto refuse = [&] {
    rank_report& one = sorted.emplace_back(rank_report{no->first.entry, no->first.pid, fail(no->second)});
    if (has_ended(one.pid, one.report)) one.doing.kind = mpi_call_kind::ended;
    ++no;
  };
  for (rank_report& rank : all.ranks) {
    while (no != refused.end() && no->first.entry < rank.entry) refuse();
    sorted.push_back(std::move(rank));
  }
  while (no != refused.end()) refuse();
  all.ranks = std::move(sorted);
  return all;
}

}  // namespace mpiacq
