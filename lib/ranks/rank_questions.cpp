// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rank_questions.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "mpiacq/queues/queue_memory.hpp"
#include "rank_stacks.hpp"

namespace mpiacq {

namespace {

/// The bound for problems that a person reads one by one.
constexpr std::size_t most_problems = 1000;

template <class T>
void append(std::vector<T>& all, std::vector<T>&& more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

/// A problem with a debug file is the same on every node that has the file, so that duplicates are dropped.
void append_new(std::vector<error>& all, std::vector<error>&& more) {
  for (error& one : more) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const error& e) { return e.message == one.message; });
    if (!known && all.size() < most_problems) all.push_back(std::move(one));
  }
}

/// Each rank can have its own reason, so that there can be as many reasons as ranks.
void append_refused(std::vector<refused_ranks>& all, std::vector<refused_ranks>&& more) {
  if (more.empty()) return;
  std::map<std::pair<error_code, std::string>, std::size_t> places;
  for (std::size_t i = 0; i < all.size(); ++i) places.try_emplace({all[i].why.code, all[i].why.message}, i);
  for (refused_ranks& one : more) {
    const auto [known, is_new] = places.try_emplace({one.why.code, one.why.message}, all.size());
    if (is_new) {
      all.push_back(std::move(one));
    } else {
      all[known->second].ranks.add(one.ranks);
    }
  }
}

/// Keeps the order of ranks. If both name a rank, the first counts.
template <class OfRank>
void append_by_rank(std::vector<OfRank>& all, std::vector<OfRank>&& more) {
  if (more.empty()) return;
  append(all, std::move(more));
  std::stable_sort(all.begin(), all.end(), [](const OfRank& a, const OfRank& b) { return a.entry < b.entry; });
  const auto end =
      std::unique(all.begin(), all.end(), [](const OfRank& a, const OfRank& b) { return a.entry == b.entry; });
  all.erase(end, all.end());
}

/// The union of these ranks. A union passes over all ranks so far, and there can be as many reasons as ranks: the sets
/// are sorted by their lowest rank, so that a union mostly appends.
rank_set all_ranks_of(const std::vector<refused_ranks>& refused) {
  std::vector<const rank_set*> sets;
  for (const refused_ranks& one : refused) sets.push_back(&one.ranks);
  std::sort(sets.begin(), sets.end(), [](const rank_set* a, const rank_set* b) { return a->lowest() < b->lowest(); });
  rank_set all;
  for (const rank_set* ranks : sets) all.add(*ranks);
  return all;
}

rank_set set_of(std::vector<entry_index> entries) {
  std::sort(entries.begin(), entries.end());
  rank_set all;
  for (const entry_index entry : entries) all.add(entry);
  return all;
}

rank_set told_in(const hold_part& part) {
  std::vector<entry_index> others;
  for (const rank_hold& one : part.others) others.push_back(one.entry);
  rank_set all = set_of(std::move(others));
  all.add(part.held);
  return all;
}
rank_set told_in(const release_part& part) {
  rank_set all = all_ranks_of(part.refused);
  all.add(part.released);
  return all;
}
rank_set told_in(const registers_part& part) {
  std::vector<entry_index> all;
  for (const rank_registers& one : part) all.push_back(one.entry);
  return set_of(std::move(all));
}
rank_set told_in(const group_stacks& part) {
  rank_set all = all_ranks_of(part.refused);
  all.add(part.taken);
  return all;
}
rank_set told_in(const group_queues& part) {
  rank_set all;
  for (const rank_report& one : part.ranks) all.add(one.entry);
  return all;
}
rank_set told_in(const opened_gates& part) {
  rank_set all = all_ranks_of(part.refused);
  all.add(part.open);
  all.add(part.without);
  return all;
}

rank_set told_in(const group_ends& part) {
  std::vector<entry_index> failed;
  for (const rank_end& one : part.failed) failed.push_back(one.entry);
  rank_set all = set_of(std::move(failed));
  all.add(part.ended);
  all.add(part.followed);
  all.add(all_ranks_of(part.refused));
  return all;
}
rank_set told_in(const rank_cores& part) {
  std::vector<entry_index> written;
  for (const rank_core& one : part.written) written.push_back(one.entry);
  rank_set all = set_of(std::move(written));
  all.add(all_ranks_of(part.refused));
  return all;
}

using refused_span = std::span<const refused_process>;

/// Groups the refused ranks by reason.
std::vector<refused_ranks> together(refused_span ranks, const rank_selection& which) {
  std::vector<refused_ranks> all;
  std::map<std::pair<error_code, std::string>, std::size_t> places;
  for (const refused_process& one : ranks) {
    if (!which.contains(one.rank.entry)) continue;
    const auto [known, is_new] = places.try_emplace({one.why.code, one.why.message}, all.size());
    if (is_new) all.push_back({{}, one.why});
    all[known->second].ranks.add(one.rank.entry);
  }
  return all;
}

rank_answer refuse(refused_span ranks, const ask_hold&) {
  hold_part part;
  for (const auto& [rank, why] : ranks) part.others.push_back({rank.entry, rank.pid, hold_state::failed, why});
  return part;
}
/// A rank that cannot be reached is not held, so that its release succeeds.
rank_answer refuse(refused_span ranks, const ask_release&) {
  release_part part;
  for (const refused_process& one : ranks) part.released.add(one.rank.entry);
  return part;
}
rank_answer refuse(refused_span ranks, const ask_registers&) {
  registers_part part;
  for (const auto& [rank, why] : ranks) part.push_back({rank.entry, fail(why)});
  return part;
}
rank_answer refuse(refused_span ranks, const ask_stacks& what) {
  group_stacks part;
  part.refused = together(ranks, what.how.ranks);
  return part;
}
rank_answer refuse(refused_span ranks, const ask_queues& what) {
  group_queues part;
  for (const auto& [rank, why] : ranks) {
    if (what.how.ranks.contains(rank.entry)) part.ranks.push_back({rank.entry, rank.pid, fail(why)});
  }
  return part;
}
rank_answer refuse(refused_span ranks, const ask_gates& what) {
  return opened_gates{{}, {}, together(ranks, what.how.ranks)};
}

rank_answer refuse(refused_span ranks, const ask_follow&) {
  return refuse(ranks, ask_hold{});
}
rank_answer refuse(refused_span ranks, const ask_ends&) {
  group_ends part;
  part.refused = together(ranks, {});
  return part;
}
rank_answer refuse(refused_span ranks, const ask_cores& what) {
  return rank_cores{{}, together(ranks, what.how.ranks)};
}

}  // namespace

rank_selection asked_ranks(const rank_question& what) {
  return std::visit(
      [](const auto& question) -> rank_selection {
        if constexpr (requires { question.how.ranks; }) return question.how.ranks;
        return {};
      },
      what);
}

rank_set told_ranks(const rank_answer& answer) {
  return std::visit([](const auto& part) { return told_in(part); }, answer);
}

rank_answer refusal_of(std::span<const refused_process> ranks, const rank_question& what) {
  return std::visit([&](const auto& question) { return refuse(ranks, question); }, what);
}

rank_answer refusal_of(std::span<const rank_process> ranks, const rank_question& what, const error& why) {
  std::vector<refused_process> all;
  all.reserve(ranks.size());
  for (const rank_process& rank : ranks) all.push_back({rank, why});
  return refusal_of(all, what);
}

void merge(hold_part& into, hold_part&& other) {
  into.held.add(other.held);
  append(into.others, std::move(other.others));
}

void merge(release_part& into, release_part&& other) {
  into.released.add(other.released);
  append_refused(into.refused, std::move(other.refused));
}

void merge(registers_part& into, registers_part&& other) {
  append(into, std::move(other));
}

void merge(opened_gates& into, opened_gates&& other) {
  into.open.add(other.open);
  into.without.add(other.without);
  append_refused(into.refused, std::move(other.refused));
}

void merge(group_ends& into, group_ends&& other) {
  append(into.failed, std::move(other.failed));
  into.ended.add(other.ended);
  into.followed.add(other.followed);
  append_refused(into.refused, std::move(other.refused));
  merge(into.stacks, std::move(other.stacks));
}

void merge(rank_cores& into, rank_cores&& other) {
  append(into.written, std::move(other.written));
  append_refused(into.refused, std::move(other.refused));
}

void merge(group_stacks& into, group_stacks&& other) {
  into.tree.merge(other.tree);
  into.taken.add(other.taken);
  append_refused(into.refused, std::move(other.refused));
  into.held_for = std::max(into.held_for, other.held_for);
  append_new(into.problems, std::move(other.problems));
  append_by_rank(into.calls, std::move(other.calls));
  into.stopped.add(other.stopped);
  into.not_run.add(other.not_run);
  append_by_rank(into.positions, std::move(other.positions));
}

/// Merges in order of ranks and keeps all reports together within the bound.
void merge(group_queues& into, group_queues&& other) {
  std::vector<rank_report> all;
  const auto take = [&all](rank_report& rank) {
    if (all.empty() || all.back().entry != rank.entry) all.push_back(std::move(rank));
  };
  std::size_t a = 0, b = 0;
  while (a < into.ranks.size() || b < other.ranks.size()) {
    const bool first =
        b == other.ranks.size() || (a < into.ranks.size() && into.ranks[a].entry <= other.ranks[b].entry);
    take(first ? into.ranks[a++] : other.ranks[b++]);
  }
  into.ranks = std::move(all);
  into.held_for = std::max(into.held_for, other.held_for);
  into.stopped = into.stopped || other.stopped;
  for (std::string& note : other.notes) {
    if (into.notes.size() < most_problems && std::find(into.notes.begin(), into.notes.end(), note) == into.notes.end())
      into.notes.push_back(std::move(note));
  }
  append_new(into.problems, std::move(other.problems));
  keep_within(into, most_bytes_of(into.ranks.size()));
}

void merge(rank_answer& into, rank_answer&& other) {
  std::visit(
      [&other](auto& first) {
        if (auto* same = std::get_if<std::remove_reference_t<decltype(first)>>(&other)) merge(first, std::move(*same));
      },
      into);
}

std::uint64_t keep_within(group_queues& queues, std::uint64_t bytes) {
  report_budget room(bytes);
  for (rank_report& rank : queues.ranks) {
    if (rank.report) room.add(*rank.report);
  }
  for (rank_report& rank : queues.ranks) {
    if (rank.doing.on) room.add(rank.doing.on->facts);
  }
  return room.held();
}

group_stacks merged(node_stacks&& taken) {
  group_stacks all;
  // Very many ranks can have the same reason.
  std::map<std::string, std::size_t> place_of;
  for (rank_stacks& rank : taken.ranks) {
    if (!rank.has_run) all.not_run.add(rank.entry);
    if (!rank.taken) {
      const auto [at, is_new] = place_of.try_emplace(rank.taken.error().message, all.refused.size());
      if (is_new) all.refused.push_back({{}, rank.taken.error()});
      all.refused[at->second].ranks.add(rank.entry);
      if (rank.stopped) all.stopped.add(rank.entry);
      continue;
    }
    all.taken.add(rank.entry);
    for (const thread_stack& stack : rank.threads) all.tree.add(rank.entry, stack);
    if (rank.doing) all.calls.push_back({rank.entry, std::move(*rank.doing)});
    if (rank.position) all.positions.push_back(std::move(*rank.position));
  }
  all.held_for = taken.held_for;
  all.problems = std::move(taken.problems);
  return all;
}

}  // namespace mpiacq
