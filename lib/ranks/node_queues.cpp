// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The message queues of a node's ranks.
#include "mpiacq/ranks/node_queues.hpp"

#include <utility>

#include "errors/no_exceptions.hpp"
#include "node_ranks_state.hpp"

namespace mpiacq {

node_queues node_ranks::queues(const rank_queue_options& options) {
  return without_exceptions(
      "reading message queues", [&] { return state_->read_queues(options); }, [&] { state_->let_go_of_others(); });
}

node_queues node_ranks::state::read_queues(const rank_queue_options& options) {
  const auto [wanted, refused] = choose(options.ranks);
  if (!stacks) stacks = std::make_unique<stack_taker>(*grip, debug_files);
  if (!queues) queues = std::make_unique<queue_taker>(*grip, *stacks);
  node_queues taken = queues->take(wanted, options);
  // What the tracer told of processes that it has let go of by now is of no use.
  take_events();
  if (refused.empty()) return taken;

  // In the order of the ranks, as they were asked for.
  node_queues all = std::move(taken);
  std::vector<rank_queues> sorted;
  std::vector<rank_activity> doing;
  std::vector<std::optional<std::string>> pml;
  auto no = refused.begin();
  const auto refuse = [&] {
    sorted.push_back({no->first.rank, no->first.pid, fail(no->second)});
    doing.emplace_back();
    if (has_ended(no->first.pid, sorted.back().report)) doing.back().kind = mpi_call_kind::ended;
    pml.emplace_back();
    ++no;
  };
  for (std::size_t i = 0; i < all.ranks.size(); ++i) {
    while (no != refused.end() && no->first.rank < all.ranks[i].rank) refuse();
    sorted.push_back(std::move(all.ranks[i]));
    doing.push_back(std::move(all.doing[i]));
    pml.push_back(std::move(all.pml[i]));
  }
  while (no != refused.end()) refuse();
  all.ranks = std::move(sorted);
  all.doing = std::move(doing);
  all.pml = std::move(pml);
  return all;
}

}  // namespace mpiacq
