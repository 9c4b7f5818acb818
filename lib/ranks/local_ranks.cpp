// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "local_ranks.hpp"

#include <utility>

namespace mpiacq {

namespace {

hold_part part_of(std::vector<rank_hold> ranks) {
  hold_part part;
  for (rank_hold& rank : ranks) {
    if (rank.state == hold_state::held) part.held.add(rank.entry);
    if (rank.state != hold_state::held || rank.why) part.others.push_back(std::move(rank));
  }
  return part;
}

rank_answer answer_to(node_ranks& ranks, const ask_hold&, const answer_terms&) {
  return part_of(ranks.hold());
}

rank_answer answer_to(node_ranks& ranks, const ask_follow& what, const answer_terms&) {
  if (what.follow) return part_of(ranks.follow_ends(what.how));
  ranks.unfollow_ends();
  hold_part none;
  for (const rank_process& rank : ranks.ranks()) none.held.add(rank.entry);
  return none;
}

rank_answer answer_to(node_ranks& ranks, const ask_ends&, const answer_terms&) {
  return ranks.ends();
}

rank_answer answer_to(node_ranks& ranks, const ask_cores& what, const answer_terms&) {
  return ranks.write_cores(what.how);
}

rank_answer answer_to(node_ranks& ranks, const ask_release& what, const answer_terms&) {
  release_part part;
  const auto outcomes = ranks.release(what.how);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const entry_index entry = ranks.ranks()[i].entry;
    if (outcomes[i]) {
      part.released.add(entry);
    } else {
      part.refused.push_back({rank_set(entry), outcomes[i].error()});
    }
  }
  return part;
}

rank_answer answer_to(node_ranks& ranks, const ask_registers& what, const answer_terms&) {
  registers_part part;
  auto all = ranks.registers(what.which);
  for (std::size_t i = 0; i < all.size(); ++i) part.push_back({ranks.ranks()[i].entry, std::move(all[i])});
  return part;
}

rank_answer answer_to(node_ranks& ranks, const ask_stacks& what, const answer_terms&) {
  ranks.set_debug_files(what.debug_files);
  return merged(ranks.stacks(what.how));
}

rank_answer answer_to(node_ranks& ranks, const ask_queues& what, const answer_terms& terms) {
  rank_queue_options how = what.how;
  if (how.host.stop < 0) how.host.stop = terms.stop;
  how.progress = terms.progress;
  return ranks.queues(how);
}

rank_answer answer_to(node_ranks& ranks, const ask_gates& what, const answer_terms& terms) {
  ranks.set_debug_files(what.debug_files);
  opened_gates part;
  const auto outcomes = ranks.open_gates(what.how, terms.stop);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const entry_index entry = ranks.ranks()[i].entry;
    if (!what.how.ranks.contains(entry)) continue;
    if (!outcomes[i]) {
      part.refused.push_back({rank_set(entry), outcomes[i].error()});
    } else {
      (*outcomes[i] ? part.open : part.without).add(entry);
    }
  }
  return part;
}

}  // namespace

rank_answer local_ranks::collect(const answer_terms& terms) {
  return std::visit([&](const auto& what) { return answer_to(*node_, what, terms); }, asked_);
}

error local_ranks::why_missing(std::size_t place) const {
  return {error_code::not_found, "nothing is known of rank " + name_of(node_->ranks()[place])};
}

}  // namespace mpiacq
