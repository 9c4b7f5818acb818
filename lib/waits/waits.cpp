// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "picture.hpp"

namespace mpiacq {

namespace waits {

std::string picture::communicator_name(std::uint32_t shared_number) const {
  const shared_communicator& one = shared.all[shared_number];
  if (!one.name.empty()) return std::string(one.name);
  return one.by_window ? std::string("a window") : fmt::format("communicator {:#x}", one.id);
}

std::string ranks_named(const rank_set& ranks) {
  std::string text = ranks.text();
  constexpr std::size_t most = 10'000;  // a longer text helps no reader, and a group may name any ranks
  if (const std::size_t end = text.find(',', most); end != std::string::npos) {
    text.resize(end);
    text += " and others";
  }
  return fmt::format("{} {}", ranks.count() == 1 ? "rank" : "ranks", text);
}

rank_set set_of(std::vector<std::uint32_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  rank_set all;
  for (const std::uint32_t number : numbers) all.add(number);
  return all;
}

namespace {

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

queue_waits find_waits(std::span<const rank_report> ranks) {
  queue_waits found;
  auto shared = waits::find_shared(ranks);
  auto operations = waits::collect(ranks, shared);
  waits::pair_up(operations, shared);
  waits::look_at_other_sides(operations, ranks, shared);
  waits::take_operations(operations, found);
  waits::picture seen{ranks, shared, operations, {}};
  for (std::uint32_t i = 0; i < ranks.size(); ++i) seen.report_of.try_emplace(ranks[i].entry.value(), i);
  waits::wait_graphs graphs = waits::begin_graphs(seen);
  found.doubts = shared.doubts;
  waits::add_operations(seen, graphs, found.doubts);
  waits::add_collectives(seen, graphs, found.doubts);
  waits::add_requests(seen, graphs, found.doubts);
  waits::add_calls(seen, graphs);
  waits::free_stopped(seen, graphs);
  waits::add_doubts(seen, found.doubts);
  found.deadlocks = waits::find_deadlocks(graphs, seen);
  waits::add_mismatches(seen, graphs, found.deadlocks);
  waits::add_differing_calls(seen, graphs, found.mismatches);
  found.waits = std::move(graphs.waits);
  std::stable_sort(found.waits.begin(), found.waits.end(),
                   [](const rank_wait& a, const rank_wait& b) { return a.from < b.from; });
  return found;
}

rank_set ranks_of_communicator(std::span<const rank_report> ranks, std::string_view communicator) {
  std::vector<std::uint32_t> members;
  std::unordered_set<const void*> seen;  // ranks share lists, which may be long
  for (const rank_report& rank : ranks) {
    if (!rank.report) continue;
    for (const queue_communicator& own : rank.report->communicators) {
      if (own.name != communicator) continue;
      members.push_back(rank.entry.value());
      for (const auto* group : {&own.group, &own.remote_group}) {
        if (!*group || !seen.insert((*group)->list()).second) continue;
        for (const std::int64_t member : **group) {
          if (member >= 0 && member < UINT32_MAX) members.push_back(static_cast<std::uint32_t>(member));
        }
      }
    }
  }
  return waits::set_of(std::move(members));
}

}  // namespace mpiacq
