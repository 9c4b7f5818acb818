// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Which ranks can never go on: those that wait for each other, and those that wait for ranks that do nothing more.
#include <algorithm>
#include <iterator>

#include "picture.hpp"

namespace mpiacq::waits {

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

/// The stuck nodes of one graph, and the set that each of them is in or needs.
class stuck_nodes {
 public:
  stuck_nodes(const needs& graph, const wait_graphs& graphs, const picture& seen)
      : seen_(seen),
        knots_(graph.knots_among(graph.stuck())),
        next_(graph.only_needs()),
        never_(knots_.of[graphs.never]) {
    find_idle();
    join_never(graphs.waits);
  }

  /// One for each knot; without ranks where there is nothing to be told.
  [[nodiscard]] std::vector<deadlock> deadlocks(const std::vector<rank_wait>& waits) const {
    std::vector<deadlock> found(knots_.all.size());
    for (std::uint32_t i = 0; i < found.size(); ++i) {
      if (i == never_) found[i] = against_nothing(waits);
      if (i != never_ && !joined_[i]) found[i] = cycle(i);
    }
    std::vector<std::vector<std::uint32_t>> behind(found.size());
    for (needs::node node = 0; node < seen_.ranks.size(); ++node) {
      const std::uint32_t knot = knot_of(node);
      if (knot != needs::knots::none && is_behind(node, knot, found[knot])) {
        behind[knot].push_back(seen_.ranks[node].entry.value());
      }
    }
    for (std::uint32_t i = 0; i < found.size(); ++i) found[i].behind = set_of(std::move(behind[i]));
    return found;
  }
  /// By knot: whether it holds a rank that is not told of already.
  [[nodiscard]] std::vector<bool> news(const std::vector<bool>& told_already) const {
    std::vector<bool> found(knots_.all.size(), false);
    for (needs::node node = 0; node < seen_.ranks.size(); ++node) {
      if (knot_of(node) != needs::knots::none && !told_already[node]) found[knot_of(node)] = true;
    }
    return found;
  }

 private:
  void find_idle() {
    std::vector<std::uint32_t> in_finalize, ended;
    for (std::uint32_t report = 0; report < seen_.ranks.size(); ++report) {
      if (!does_nothing_more(seen_.ranks[report].doing)) continue;
      (seen_.ranks[report].doing.kind == mpi_call_kind::ended ? ended : in_finalize)
          .push_back(seen_.ranks[report].entry.value());
    }
    in_finalize_ = set_of(std::move(in_finalize));
    ended_ = set_of(std::move(ended));
  }
  [[nodiscard]] bool names_idle(const rank_wait& wait) const {
    return !wait.to.both(in_finalize_).empty() || !wait.to.both(ended_).empty();
  }
  /// A rank that waits for anybody also waits for itself. If a rank that does nothing more would be enough for it, the
  /// set that it is in is no cycle: it waits for that rank.
  void join_never(const std::vector<rank_wait>& waits) {
    joined_.assign(knots_.all.size(), false);
    for (const rank_wait& wait : waits) {
      const std::uint32_t knot = knots_.of[seen_.report_of.at(wait.from.value())];
      if (knot != needs::knots::none && wait.any_of && names_idle(wait)) joined_[knot] = true;
    }
  }
  [[nodiscard]] std::uint32_t knot_of(needs::node node) const {
    const std::uint32_t knot = knots_.of[node];
    return knot != needs::knots::none && joined_[knot] ? never_ : knot;
  }

  [[nodiscard]] deadlock cycle(std::uint32_t knot) const {
    const auto ring = ring_of(knots_.all[knot], next_);
    deadlock found;
    found.is_ring = !ring.empty();
    for (const needs::node node : found.is_ring ? ring : knots_.all[knot]) {
      // The nodes behind the reports are groups of ranks.
      if (node < seen_.ranks.size()) found.ranks.push_back(seen_.ranks[node].entry);
    }
    return found;
  }

  /// Those that wait for a rank that does nothing more, together with that rank.
  [[nodiscard]] deadlock against_nothing(const std::vector<rank_wait>& waits) const {
    std::vector<std::uint32_t> members;
    deadlock found;
    found.is_ring = false;
    for (const rank_wait& wait : waits) {
      const std::uint32_t report = seen_.report_of.at(wait.from.value());
      if (knot_of(report) != never_ || does_nothing_more(seen_.ranks[report].doing) || !names_idle(wait)) continue;
      members.push_back(wait.from.value());
      found.in_finalize.add(wait.to.both(in_finalize_));
      found.ended.add(wait.to.both(ended_));
    }
    rank_set all = set_of(std::move(members));
    all.add(found.in_finalize);
    all.add(found.ended);
    all.for_each([&](entry_index rank) { found.ranks.push_back(rank); });
    return found;
  }

  [[nodiscard]] bool is_behind(needs::node node, std::uint32_t knot, const deadlock& found) const {
    if (knot != never_) return !std::binary_search(knots_.all[knot].begin(), knots_.all[knot].end(), node);
    return !does_nothing_more(seen_.ranks[node].doing) &&
           !std::binary_search(found.ranks.begin(), found.ranks.end(), seen_.ranks[node].entry);
  }

  const picture& seen_;
  needs::knots knots_;
  std::vector<needs::node> next_;
  std::uint32_t never_;
  rank_set in_finalize_, ended_;
  std::vector<bool> joined_;  ///< by knot: it is told with what waits for ranks that do nothing more
};

/// The deadlocks of one graph, without those of which all ranks are stuck for certain anyway.
std::vector<deadlock> deadlocks_in(const needs& graph, const wait_graphs& graphs, const picture& seen,
                                   const std::vector<bool>& told_already) {
  const stuck_nodes stuck(graph, graphs, seen);
  std::vector<deadlock> all = stuck.deadlocks(graphs.waits), fresh;
  const std::vector<bool> news = stuck.news(told_already);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (news[i] && !all[i].ranks.empty()) fresh.push_back(std::move(all[i]));
  }
  const auto lowest = [](const deadlock& d) { return *std::min_element(d.ranks.begin(), d.ranks.end()); };
  std::sort(fresh.begin(), fresh.end(), [&](const deadlock& a, const deadlock& b) { return lowest(a) < lowest(b); });
  return fresh;
}

}  // namespace

wait_graphs begin_graphs(const picture& seen) {
  wait_graphs graphs;
  graphs.entered.resize(seen.ranks.size());
  for (needs* graph : {&graphs.certain, &graphs.likely}) {
    for (std::size_t i = 0; i < seen.ranks.size(); ++i) (void)graph->add();
    graphs.never = graph->add();
    graph->need(graphs.never, graphs.never);
    for (needs::node report = 0; report < seen.ranks.size(); ++report) {
      if (does_nothing_more(seen.ranks[report].doing)) graph->need(report, graphs.never);
    }
  }
  return graphs;
}

void free_stopped(const picture& seen, wait_graphs& graphs) {
  std::vector<bool> which(seen.ranks.size());
  for (std::size_t report = 0; report < which.size(); ++report) {
    which[report] = seen.ranks[report].stopped_by_signal && !does_nothing_more(seen.ranks[report].doing);
  }
  if (std::find(which.begin(), which.end(), true) == which.end()) return;
  graphs.certain.free(which);
  graphs.likely.free(which);
  std::erase_if(graphs.waits, [&](const rank_wait& wait) { return which[seen.report_of.at(wait.from.value())]; });
}

std::vector<deadlock> find_deadlocks(const wait_graphs& graphs, const picture& seen) {
  const std::vector<bool> none(seen.ranks.size(), false);
  std::vector<deadlock> found = deadlocks_in(graphs.certain, graphs, seen, none);
  std::vector<deadlock> possible = deadlocks_in(graphs.likely, graphs, seen, graphs.certain.stuck());
  for (deadlock& one : possible) one.certain = false;
  std::move(possible.begin(), possible.end(), std::back_inserter(found));
  return found;
}

}  // namespace mpiacq::waits
