// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The message queues of a node's ranks.
#include "mpiacq/node_queues.hpp"

#include <utility>

#include "node_ranks_state.hpp"

namespace mpiacq {

node_queues node_ranks::queues(const rank_queue_options& options) {
  state& s = *state_;
  const auto [wanted, refused] = s.choose(options.ranks);
  if (!s.stacks) s.stacks = std::make_unique<stack_taker>(*s.grip, s.debug_files);
  if (!s.queues) s.queues = std::make_unique<queue_taker>(*s.grip, *s.stacks);
  node_queues taken = s.queues->take(wanted, options);
  // What the tracer told of processes that it has let go of by now is of no use.
  s.take_events();
  if (refused.empty()) return taken;

  // In the order of the ranks, as they were asked for.
  node_queues all = std::move(taken);
  std::vector<rank_queues> ranks;
  std::vector<rank_activity> doing;
  std::vector<std::optional<std::string>> pml;
  auto no = refused.begin();
  const auto refuse = [&] {
    ranks.push_back({no->first.rank, no->first.pid, fail(no->second)});
    doing.emplace_back();
    if (has_ended(no->first.pid, ranks.back().report)) doing.back().kind = mpi_call_kind::ended;
    pml.emplace_back();
    ++no;
  };
  for (std::size_t i = 0; i < all.ranks.size(); ++i) {
    while (no != refused.end() && no->first.rank < all.ranks[i].rank) refuse();
    ranks.push_back(std::move(all.ranks[i]));
    doing.push_back(std::move(all.doing[i]));
    pml.push_back(std::move(all.pml[i]));
  }
  while (no != refused.end()) refuse();
  all.ranks = std::move(ranks);
  all.doing = std::move(doing);
  all.pml = std::move(pml);
  return all;
}

}  // namespace mpiacq
