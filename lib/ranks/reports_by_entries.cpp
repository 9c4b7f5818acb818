// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <map>
#include <utility>

#include "mpiacq/ranks/confirmed_waits.hpp"

namespace mpiacq {

namespace {

/// The entry of each rank of each world.
using entry_map = std::map<std::pair<std::uint32_t, std::int64_t>, entry_index>;
/// The group in entries for each list of ranks of each world. Ranks that share a list share its translation, too.
using group_map = std::map<std::pair<std::uint32_t, const void*>, group_members>;

struct translator {
  const entry_map& entries;
  group_map& groups;
  std::uint32_t world;

  [[nodiscard]] std::int64_t entry_of(std::int64_t rank) const {
    const auto found = entries.find({world, rank});
    return found == entries.end() ? -1 : std::int64_t{found->second.value()};
  }
  [[nodiscard]] group_members entries_of(const group_members& group) const {
    const auto [known, is_new] = groups.try_emplace({world, group.list()});
    if (is_new) {
      std::vector<std::int64_t> members;
      members.reserve(group.size());
      for (const std::int64_t member : group) members.push_back(entry_of(member));
      known->second = std::move(members);
    }
    return known->second;
  }
  void translate(peer& who) const {
    if (!who.global) return;
    const std::int64_t entry = entry_of(*who.global);
    who.global = entry < 0 ? std::nullopt : std::optional{static_cast<std::uint32_t>(entry)};
  }
  void translate(queue_communicator& one) const {
    // Keeps small differences between ids from making two worlds' ids equal.
    constexpr std::uint64_t apart = 0x9e3779b97f4a7c15;
    if (one.group) {
      one.group = entries_of(*one.group);
    } else {
      one.id += world * apart;
    }
    for (queue_listing& queue : one.queues) {
      for (queue_operation& operation : queue.operations) {
        translate(operation.desired);
        if (operation.actual) translate(operation.actual->from_or_to);
      }
    }
  }
};

}  // namespace

std::vector<rank_report> by_entries(std::span<const rank_report> ranks, const rank_names& names, std::size_t entries) {
  entry_map places;
  for (std::size_t i = 0; i < entries; ++i) {
    const entry_index entry{i};
    places.emplace(std::pair{names.world(entry), names.rank(entry).value()}, entry);
  }
  std::vector<rank_report> all(ranks.begin(), ranks.end());
  group_map groups;
  for (rank_report& rank : all) {
    // The ranks that arguments name are those of a world, which the job has several of.
    rank.doing.arguments.clear();
    rank.doing.requests.reset();
    rank.doing.on.reset();
    if (!rank.report) continue;
    const translator of_world{places, groups, names.world(rank.entry)};
    for (queue_communicator& one : rank.report->communicators) of_world.translate(one);
  }
  return all;
}

}  // namespace mpiacq
