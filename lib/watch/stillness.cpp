// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "stillness.hpp"

#include <algorithm>
#include <utility>

#include "handles/mpi_abi.hpp"
#include "mpiacq/ranks/tree_calls.hpp"

namespace mpiacq::watching {

namespace {

/// The functions from the outermost frame to a node, without those that were inlined.
std::vector<std::shared_ptr<const code_place>> path_to(const call_tree& tree, call_tree::node_number number) {
  std::vector<std::shared_ptr<const code_place>> path;
  for (; number != call_tree::root; number = tree[number].parent) {
    const auto& node = tree[number];
    if (node.place && !node.inlined) path.push_back(node.place);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

/// A rank in a function of an MPI library that has no name is in a call all the same.
void take_nameless_call(rank_sight& one) {
  const auto call = std::find_if(one.path.begin(), one.path.end(),
                                 [](const auto& place) { return is_mpi_library(place->module_path); });
  if (call == one.path.end()) return;
  one.is = rank_sight::state::in_call;
  one.writes_meanwhile = true;  // it may be MPI_Waitany
  one.function = (*call)->module_path;
  one.path.erase(call, one.path.end());
  if (!one.path.empty()) one.at = {one.path.back()->function, one.path.back()->file, one.path.back()->line};
}

/// What a look says of each rank of a part.
std::map<entry_index, rank_sight> sights_of(const rank_set& part, const group_stacks& seen) {
  std::map<entry_index, rank_sight> all;
  part.for_each([&](entry_index entry) {
    rank_sight& one = all[entry];
    if (seen.taken.contains(entry)) one.is = rank_sight::state::outside;
    if (seen.stopped.contains(entry)) one.is = rank_sight::state::stopped;
  });
  for (const rank_position& position : seen.positions) {
    if (const auto known = all.find(position.entry); known != all.end()) known->second.position = position;
  }
  for (const tree_call& made : calls_of_programs(seen.tree)) {
    seen.tree[made.node].ranks.both(part).for_each([&](entry_index entry) {
      rank_sight& one = all[entry];
      one.is = rank_sight::state::in_call;
      one.function = made.call.function;
      one.at = made.call.at;
      one.polls = is_polling_call(made.call);
      one.writes_meanwhile = made.call.kind == mpi_call_kind::wait_any;
      one.path = path_to(seen.tree, seen.tree[made.node].parent);
    });
  }
  for (call_tree::node_number i = 1; i < seen.tree.size(); ++i) {
    seen.tree[i].standing.both(part).for_each([&](entry_index entry) {
      rank_sight& one = all[entry];
      if (one.is != rank_sight::state::outside) return;
      one.path = path_to(seen.tree, i);
      take_nameless_call(one);
    });
  }
  return all;
}

}  // namespace

void stillness::add(std::size_t part, const group_stacks& seen, deadline when) {
  if (!since_) since_ = when;
  for (const auto& [entry, sight] : sights_of(parts_[part], seen)) {
    if (ranks_[entry].add(sight, when)) since_ = when;
  }
}

std::optional<deadline> stillness::since() const {
  const bool waits = std::any_of(ranks_.begin(), ranks_.end(), [](const auto& one) {
    return one.second.is() == rank_movement::mode::waits || one.second.is() == rank_movement::mode::polls;
  });
  return waits ? since_ : std::nullopt;
}

job_stands_still stillness::described(deadline now) const {
  job_stands_still job;
  job.since = now - since_.value_or(now);
  for (const auto& [entry, rank] : ranks_) {
    switch (rank.is()) {
      case rank_movement::mode::waits:
        job.in_calls.add(entry);
        continue;
      case rank_movement::mode::stopped:
        job.stopped.add(entry);
        continue;
      case rank_movement::mode::computes:
      case rank_movement::mode::polls:
        break;
      default:
        continue;
    }
    const bool polls = rank.is() == rank_movement::mode::polls;
    (polls ? job.polling : job.outside).add(entry);
    busy_rank& busy = job.busy.emplace_back();
    busy.entry = entry;
    busy.since = now - rank.since();
    busy.runs = rank.runs();
    busy.polls = rank.polled();
    if (const code_place* place = rank.function()) busy.function = place->function;
  }
  return job;
}

}  // namespace mpiacq::watching
