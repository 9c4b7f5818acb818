// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The result from stacks alone: the call that each rank is in, and the ranks that are missing from a collective call.
#include <algorithm>
#include <map>
#include <tuple>

#include "picture.hpp"

namespace mpiacq {

namespace {

std::vector<rank_call> grouped(std::span<const rank_report> ranks, bool by_site) {
  std::map<std::tuple<std::string, mpi_call_kind, call_site, bool>, std::vector<std::uint32_t>> by_call;
  for (const rank_report& rank : ranks) {
    const rank_activity& doing = rank.doing;
    by_call[{doing.function, doing.kind, by_site ? doing.at : call_site{}, by_site && rank.stopped_by_signal}]
        .push_back(rank.entry.value());
  }
  std::vector<rank_call> found;
  for (auto& [call, numbers] : by_call) {
    const auto& [function, kind, site, is_stopped] = call;
    found.push_back({function, kind, waits::set_of(std::move(numbers)), site, is_stopped});
  }
  std::sort(found.begin(), found.end(),
            [](const rank_call& a, const rank_call& b) { return a.ranks.lowest() < b.ranks.lowest(); });
  return found;
}

}  // namespace

std::vector<rank_call> calls_of(std::span<const rank_report> ranks) {
  return grouped(ranks, false);
}

std::vector<rank_call> calls_by_site(std::span<const rank_report> ranks) {
  return grouped(ranks, true);
}

std::vector<collective_gap> collective_gaps(std::span<const rank_call> calls) {
  std::vector<collective_gap> found;
  for (const rank_call& call : calls) {
    if (!waits::is_collective(call.kind)) continue;
    collective_gap gap{call.function, call.ranks, {}};
    for (const rank_call& other : calls) {
      if (other.function != call.function && other.kind != mpi_call_kind::unknown) gap.missing.add(other.ranks);
    }
    if (!gap.missing.empty()) found.push_back(std::move(gap));
  }
  return found;
}

}  // namespace mpiacq
