// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "stillness.hpp"

#include "mpiacq/ranks/tree_calls.hpp"

namespace mpiacq::watching {

void stillness::add(std::size_t part, const group_stacks& seen, deadline when) {
  calls_[part].add(seen);
  rank_set in_calls;
  for (const tree_call& made : calls_of_programs(seen.tree)) in_calls.add(seen.tree[made.node].ranks);
  in_calls_[part] = in_calls;
  outside_[part] = seen.taken.without(in_calls);
  if (!since_) since_ = when;
  if (calls_[part].moved().empty()) return;
  // One rank that moves shows that the job does.
  for (call_movement& movement : calls_) movement = {};
  since_ = when;
}

std::optional<deadline> stillness::since() const {
  return in_calls().empty() ? std::nullopt : since_;
}

rank_set stillness::all_of(const std::vector<rank_set>& parts) {
  rank_set all;
  for (const rank_set& part : parts) all.add(part);
  return all;
}

}  // namespace mpiacq::watching
