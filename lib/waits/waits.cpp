// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/format.h>

#include "picture.hpp"

namespace mpiacq {

namespace waits {

std::string picture::communicator_name(std::uint32_t shared_number) const {
  const shared_communicator& one = shared.all[shared_number];
  return one.name.empty() ? fmt::format("communicator {:#x}", one.id) : std::string(one.name);
}

std::string ranks_named(const rank_set& ranks) {
  return fmt::format("{} {}", ranks.count() == 1 ? "rank" : "ranks", ranks.text());
}

rank_set set_of(std::vector<std::uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  rank_set all;
  for (const std::uint32_t number : numbers) all.add(number);
  return all;
}

namespace {

/// From the lowest rank from one to the next; empty where they are no plain ring.
std::vector<needs::node> ring_of(const std::vector<needs::node>& knot, const std::vector<needs::node>& next) {
  std::vector<needs::node> ring;
  for (needs::node at = knot.front(); ring.size() < knot.size(); at = next[at]) {
    if (!ring.empty() && at == knot.front()) return {};
    ring.push_back(at);
    if (next[at] == at && knot.size() > 1) return {};
  }
  return ring.size() == knot.size() && next[ring.back()] == knot.front() ? ring : std::vector<needs::node>{};
}

/// The deadlocks of one graph, without those of which all ranks are stuck for certain anyway.
std::vector<deadlock> deadlocks_in(const needs& graph, std::span<const rank_queues> ranks, bool certain,
                                   const std::vector<bool>& told_already) {
  const auto stuck = graph.stuck();
  const auto knots = graph.knots_among(stuck);
  const auto next = graph.only_needs();
  std::vector<deadlock> found(knots.all.size());
  for (std::size_t i = 0; i < knots.all.size(); ++i) {
    const auto ring = ring_of(knots.all[i], next);
    found[i].is_ring = !ring.empty();
    found[i].certain = certain;
    for (const needs::node node : found[i].is_ring ? ring : knots.all[i]) {
      // What comes behind the reports are groups of ranks.
      if (node < ranks.size()) found[i].ranks.push_back(ranks[node].rank);
    }
  }
  std::vector<bool> news(knots.all.size(), false);
  std::vector<std::vector<std::uint32_t>> behind(knots.all.size());
  for (needs::node node = 0; node < ranks.size(); ++node) {
    const std::uint32_t knot = knots.of[node];
    if (knot == needs::knots::none) continue;
    if (!told_already[node]) news[knot] = true;
    const auto& members = knots.all[knot];
    if (!std::binary_search(members.begin(), members.end(), node)) behind[knot].push_back(ranks[node].rank);
  }
  std::vector<deadlock> fresh;
  for (std::size_t i = 0; i < found.size(); ++i) {
    found[i].behind = set_of(std::move(behind[i]));
    if (news[i] && !found[i].ranks.empty()) fresh.push_back(std::move(found[i]));
  }
  const auto lowest = [](const deadlock& d) { return *std::min_element(d.ranks.begin(), d.ranks.end()); };
  std::sort(fresh.begin(), fresh.end(), [&](const deadlock& a, const deadlock& b) { return lowest(a) < lowest(b); });
  return fresh;
}

void find_deadlocks(const wait_graphs& graphs, std::span<const rank_queues> ranks, queue_waits& found) {
  const std::vector<bool> nobody(ranks.size(), false);
  found.deadlocks = deadlocks_in(graphs.certain, ranks, true, nobody);
  auto possible = deadlocks_in(graphs.likely, ranks, false, graphs.certain.stuck());
  std::move(possible.begin(), possible.end(), std::back_inserter(found.deadlocks));
}

void take_operations(const halves& operations, queue_waits& found) {
  for (std::size_t i = 0; i < operations.all.size(); ++i) {
    const half& h = operations.all[i];
    if (h.partner == SIZE_MAX) {
      if (!h.moving) found.unpaired.push_back({h.place, h.other_side_known});
    } else if (!h.is_send()) {
      found.pairs.push_back({operations.all[h.partner].place, h.place, h.only_choice});
    }
  }
  found.internal_operations = operations.internal_operations;
}

}  // namespace

}  // namespace waits

queue_waits find_waits(std::span<const rank_queues> ranks, std::span<const rank_activity> doing) {
  queue_waits found;
  auto shared = waits::find_shared(ranks);
  auto operations = waits::collect(ranks, shared);
  waits::pair_up(operations, shared);
  waits::look_at_other_sides(operations, ranks, shared);
  waits::take_operations(operations, found);

  std::vector<rank_activity> activities(doing.begin(), doing.end());
  activities.resize(ranks.size());
  waits::picture seen{ranks, activities, shared, operations, {}};
  waits::wait_graphs graphs;
  for (std::uint32_t i = 0; i < ranks.size(); ++i) {
    seen.report_of.try_emplace(ranks[i].rank, i);
    (void)graphs.certain.add();
    (void)graphs.likely.add();
  }
  found.doubts = shared.doubts;
  waits::add_operations(seen, graphs, found.doubts);
  waits::add_collectives(seen, graphs, found.doubts);
  waits::add_doubts(seen, found.doubts);
  waits::find_deadlocks(graphs, ranks, found);
  found.waits = std::move(graphs.waits);
  std::stable_sort(found.waits.begin(), found.waits.end(),
                   [](const rank_wait& a, const rank_wait& b) { return a.from < b.from; });
  return found;
}

rank_set ranks_of_communicator(std::span<const rank_queues> ranks, std::string_view communicator) {
  std::vector<std::uint32_t> members;
  for (const rank_queues& rank : ranks) {
    if (!rank.report) continue;
    for (const queue_communicator& own : rank.report->communicators) {
      if (own.name != communicator) continue;
      members.push_back(rank.rank);
      for (const auto* group : {&own.group, &own.remote_group}) {
        if (!*group) continue;
        for (const std::int64_t member : **group) {
          if (member >= 0 && member < UINT32_MAX) members.push_back(static_cast<std::uint32_t>(member));
        }
      }
    }
  }
  return waits::set_of(std::move(members));
}

}  // namespace mpiacq
