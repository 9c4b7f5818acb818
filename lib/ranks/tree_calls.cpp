// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/ranks/tree_calls.hpp"

#include <utility>

namespace mpiacq {

namespace {

rank_activity activity_at(const call_tree& tree, const call_tree::node& frame) {
  rank_activity found = activity_in(frame.place ? frame.place->function : std::string());
  if (const auto& caller = tree[frame.parent].place) found.at = {caller->function, caller->file, caller->line};
  return found;
}

}  // namespace

std::vector<tree_call> calls_of_programs(const call_tree& tree) {
  std::vector<tree_call> calls;
  std::vector<bool> is_inside(tree.size(), false);
  for (call_tree::node_number i = 1; i < tree.size(); ++i) {
    is_inside[i] = is_inside[tree[i].parent];
    if (is_inside[i]) continue;
    rank_activity found = activity_at(tree, tree[i]);
    if (found.kind == mpi_call_kind::none) continue;
    is_inside[i] = true;
    calls.push_back({i, std::move(found)});
  }
  return calls;
}

}  // namespace mpiacq
