// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "call_movement.hpp"

#include <utility>

#include "mpiacq/ranks/tree_calls.hpp"

namespace mpiacq {

call_movement::moment call_movement::moment_of(const group_stacks& sample) {
  moment seen{sample.taken, {}};
  for (const tree_call& made : calls_of_programs(sample.tree)) {
    seen.calls[{made.call.function, made.call.at}].add(sample.tree[made.node].ranks);
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
