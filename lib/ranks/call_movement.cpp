// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "call_movement.hpp"

#include <utility>
#include <vector>

#include "mpiacq/queues/queue_waits.hpp"

namespace mpiacq {

call_movement::moment call_movement::moment_of(const group_stacks& sample) {
  moment seen{sample.taken, {}};
  const call_tree& tree = sample.tree;
  // The call that the program made, not the calls inside the MPI.
  std::vector<bool> is_inside(tree.size(), false);
  for (call_tree::node_number i = 1; i < tree.size(); ++i) {
    const call_tree::node& node = tree[i];
    is_inside[i] = is_inside[node.parent];
    if (is_inside[i] || !node.place || activity_in(node.place->function).kind == mpi_call_kind::none) continue;
    is_inside[i] = true;
    const auto& caller = tree[node.parent].place;
    call made{node.place->function, caller ? caller->function : std::string(), caller ? caller->line : 0};
    seen.calls[std::move(made)].add(node.ranks);
  }
  return seen;
}

void call_movement::compare(const rank_set& before, const rank_set& now) {
  moved_.add(before.without(now));
  moved_.add(now.without(before));
}

void call_movement::add(const group_stacks& sample) {
  moment now = moment_of(sample);
  if (!first_) {
    first_ = std::move(now);
    return;
  }
  compare(first_->taken, now.taken);
  for (const auto& [made, ranks] : first_->calls) {
    const auto same = now.calls.find(made);
    compare(ranks, same == now.calls.end() ? rank_set{} : same->second);
  }
  for (const auto& [made, ranks] : now.calls) {
    if (!first_->calls.contains(made)) moved_.add(ranks);
  }
}

}  // namespace mpiacq
