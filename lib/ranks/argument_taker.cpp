// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "argument_taker.hpp"

#include <utility>
#include <vector>

#include "call_reader.hpp"

namespace mpiacq {

namespace {

/// The ranks of one look while they are held.
struct held_ranks {
  std::vector<result<void>> outcomes;  ///< one for each rank of the look
  std::vector<wanted_rank> held;       ///< those that are held, in order
  std::vector<process_id> ours;        ///< those that were not held before
  std::vector<std::size_t> our_places;
};

held_ranks hold(rank_stopper& grip, std::span<const wanted_rank> ranks) {
  std::vector<attach_target> targets;
  for (const wanted_rank& rank : ranks) {
    if (!rank.held) targets.push_back(rank.process);
  }
  const auto attached = grip.take(targets);
  auto outcome = attached.begin();
  held_ranks all;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    all.outcomes.push_back(ranks[i].held ? result<void>() : *outcome++);
    if (!all.outcomes.back()) continue;
    all.held.push_back(ranks[i]);
    if (std::exchange(all.held.back().held, true)) continue;
    all.ours.push_back(ranks[i].process.process);
    all.our_places.push_back(i);
  }
  return all;
}

/// A rank that the tracer server had released earlier ran while it was read.
void let_go(rank_stopper& grip, held_ranks& all) {
  const auto released = grip.let_go(all.ours);
  for (std::size_t i = 0; i < all.ours.size(); ++i) {
    if (!released[i] && released[i].error().code == error_code::limit) all.outcomes[all.our_places[i]] = released[i];
  }
}

void read_arguments(node_stacks& seen, rank_stopper& grip, stack_taker& stacks, const debug_file_search& search) {
  call_reader calls(stacks, search);
  for (rank_stacks& rank : seen.ranks) {
    if (!rank.taken) continue;
    grip.keep_held();
    rank.doing = activity_of(rank.threads, {});
    if (!rank.threads.empty()) rank.doing->arguments = calls.read(rank.threads.front()).arguments;
  }
}

}  // namespace

node_stacks take_with_arguments(rank_stopper& grip, stack_taker& stacks, std::span<const wanted_rank> ranks,
                                const stack_options& options, const debug_file_search& search) {
  const auto begin = clock::now();
  held_ranks all = hold(grip, ranks);
  node_stacks seen = stacks.take(all.held, options);
  read_arguments(seen, grip, stacks, search);
  let_go(grip, all);
  node_stacks taken;
  taken.held_for = clock::now() - begin;
  taken.problems = std::move(seen.problems);
  auto read = seen.ranks.begin();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    rank_stacks rank{ranks[i].entry, ranks[i].process.process, {}, {}};
    const bool was_held = read != seen.ranks.end() && read->entry == ranks[i].entry;
    if (was_held) rank = std::move(*read++);
    if (!all.outcomes[i]) rank = {rank.entry, rank.pid, std::move(all.outcomes[i]), {}};
    taken.ranks.push_back(std::move(rank));
  }
  return taken;
}

}  // namespace mpiacq
