// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/html/wait_groups.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "report/queues_parts.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

constexpr std::uint64_t few = 12;  ///< ranks that can be drawn one by one

/// The ranks that are drawn one by one.
rank_set single_ranks(const queues_snapshot& snapshot, const rank_set& first) {
  rank_set all, single;
  for (const rank_report& rank : snapshot.seen.ranks) all.add(rank.entry);
  if (all.count() <= few) return all;
  rank_set stuck;
  for (const deadlock& found : snapshot.waits.deadlocks) {
    for (const entry_index entry : found.ranks) stuck.add(entry);
  }
  if (stuck.count() <= few) single.add(stuck);
  if (first.count() <= few) single.add(first);
  return single;
}

/// All groups, the single ranks first, then the others by their size.
std::vector<wait_group> all_groups(const queues_snapshot& snapshot, const rank_set& single) {
  std::vector<wait_group> alone, together;
  for (const rank_call& call : calls_by_site(snapshot.seen.ranks)) {
    const std::string doing = doing_text(call);
    call.ranks.both(single).for_each([&](entry_index rank) { alone.push_back({rank_set(rank), doing}); });
    if (rank_set rest = call.ranks.without(single); !rest.empty()) together.push_back({std::move(rest), doing});
  }
  std::stable_sort(together.begin(), together.end(),
                   [](const wait_group& a, const wait_group& b) { return a.ranks.count() > b.ranks.count(); });
  alone.insert(alone.end(), std::make_move_iterator(together.begin()), std::make_move_iterator(together.end()));
  return alone;
}

/// Adds the ranks that others wait for and that no report is of.
void add_unknown(std::vector<wait_group>& groups, const queue_waits& waits) {
  rank_set known, unknown;
  for (const wait_group& group : groups) known.add(group.ranks);
  for (const rank_wait& wait : waits.waits) unknown.add(wait.to.without(known));
  if (!unknown.empty()) groups.push_back({unknown, "not looked at"});
}

void cut(std::vector<wait_group>& groups) {
  if (groups.size() <= wait_groups::most) return;
  wait_group rest{{}, "in other places"};
  for (std::size_t i = wait_groups::most - 1; i < groups.size(); ++i) rest.ranks.add(groups[i].ranks);
  groups.resize(wait_groups::most - 1);
  groups.push_back(std::move(rest));
}

/// Finds the groups of ranks.
class group_finder {
 public:
  explicit group_finder(const std::vector<wait_group>& groups) : groups_(groups) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      for (const rank_set::range& range : groups[i].ranks.ranges()) ranges_[range.first] = {range.last, i};
    }
  }
  /// The group of one rank; the number of groups if it has none.
  [[nodiscard]] std::size_t of(std::uint32_t rank) const {
    const auto after = ranges_.upper_bound(rank);
    if (after == ranges_.begin()) return groups_.size();
    const auto& [last, group] = std::prev(after)->second;
    return rank <= last ? group : groups_.size();
  }
  /// The groups that have one of the ranks. The answer is kept, because many ranks wait for the same ranks.
  [[nodiscard]] const std::set<std::size_t>& of(const rank_set& ranks) {
    const auto [at, is_new] = found_.try_emplace(ranks.text());
    if (!is_new) return at->second;
    if (ranks.count() == 1) {
      at->second.insert(of(ranks.lowest()));
      return at->second;
    }
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (!groups_[i].ranks.both(ranks).empty()) at->second.insert(i);
    }
    return at->second;
  }

 private:
  const std::vector<wait_group>& groups_;
  std::map<std::uint32_t, std::pair<std::uint32_t, std::size_t>> ranges_;  ///< by first rank: last rank, group
  std::map<std::string, std::set<std::size_t>> found_;
};

}  // namespace

wait_groups grouped_waits(const queues_snapshot& snapshot, const rank_set& first) {
  wait_groups drawn;
  drawn.groups = all_groups(snapshot, single_ranks(snapshot, first));
  add_unknown(drawn.groups, snapshot.waits);
  cut(drawn.groups);
  group_finder finder(drawn.groups);
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> places;
  for (const rank_wait& wait : snapshot.waits.waits) {
    const std::size_t from = finder.of(wait.from.value());
    if (from == drawn.groups.size()) continue;
    for (const std::size_t to : finder.of(wait.to)) {
      if (to == from) {
        drawn.groups[from].waits_inside = true;
        continue;
      }
      const auto [at, is_new] = places.try_emplace({from, to}, drawn.waits.size());
      if (is_new) drawn.waits.push_back({from, to, wait.certain, printable(wait.why)});
      drawn.waits[at->second].certain = drawn.waits[at->second].certain && wait.certain;
    }
  }
  for (const deadlock& found : snapshot.waits.deadlocks) {
    for (const entry_index entry : found.ranks) {
      if (const std::size_t group = finder.of(entry.value()); group < drawn.groups.size()) {
        drawn.groups[group].in_deadlock = true;
      }
    }
  }
  return drawn;
}

}  // namespace mpiacq::tool
