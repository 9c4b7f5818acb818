// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The stacks of a node's ranks.
#include <utility>

#include "node_ranks_state.hpp"

namespace mpiacq {

node_stacks node_ranks::stacks(const stack_options& options) {
  state& s = *state_;
  auto [wanted, no_stacks] = s.choose(options.ranks);
  std::vector<rank_stacks> refused;
  for (const auto& [rank, why] : no_stacks) refused.push_back({rank.rank, rank.pid, fail(why), {}});
  if (!s.stacks) s.stacks = std::make_unique<stack_taker>(*s.grip, s.debug_files);
  node_stacks taken = s.stacks->take(wanted, options);
  // What the tracer told of processes that it has let go of by now is of no use.
  s.take_events();
  // In the order of the ranks, as they were asked for.
  std::vector<rank_stacks> all;
  auto no = refused.begin();
  for (rank_stacks& yes : taken.ranks) {
    while (no != refused.end() && no->rank < yes.rank) all.push_back(std::move(*no++));
    all.push_back(std::move(yes));
  }
  all.insert(all.end(), std::make_move_iterator(no), std::make_move_iterator(refused.end()));
  taken.ranks = std::move(all);
  return taken;
}

}  // namespace mpiacq
