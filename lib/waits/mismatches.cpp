// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Collective calls that do not belong together, among ranks that never go on.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "call_facts.hpp"
#include "picture.hpp"

namespace mpiacq::waits {

namespace {

/// A collective call on one communicator, and the ranks of a deadlock that are in it.
struct entered {
  std::string function;
  std::optional<std::uint32_t> root;
  bool synchronising = true;
  rank_set ranks;
  rank_set awaited;  ///< by these ranks
  std::shared_ptr<const rank_set> last_awaited;
  bool differs = false;
};

/// The calls of one deadlock on one communicator.
struct calls_on_one {
  std::vector<entered> calls;
  std::map<std::string, roots_apart> roots;  ///< by function
};
/// The same, by communicator: its name and its key.
using entered_calls = std::map<std::pair<std::string, std::uint32_t>, calls_on_one>;

/// The deadlock that each rank is in or behind, by report; `nowhere` for none. The first one counts.
std::vector<std::uint32_t> deadlock_of_reports(const std::vector<deadlock>& deadlocks, const picture& seen) {
  std::vector<std::uint32_t> of(seen.ranks.size(), nowhere);
  const auto put = [&](std::uint32_t number, std::uint32_t place) {
    const auto report = seen.report_of.find(number);
    if (report != seen.report_of.end() && of[report->second] == nowhere) of[report->second] = place;
  };
  for (std::uint32_t place = 0; place < deadlocks.size(); ++place) {
    for (const entry_index entry : deadlocks[place].ranks) put(entry.value(), place);
    deadlocks[place].behind.for_each([&](entry_index entry) { put(entry.value(), place); });
  }
  return of;
}

void enter(calls_on_one& here, const rank_report& rank, const entered_call& where) {
  std::vector<entered>& calls = here.calls;
  const auto root = here.roots[rank.doing.function].of(rank.doing);
  auto same = std::find_if(calls.begin(), calls.end(),
                           [&](const entered& one) { return one.function == rank.doing.function && one.root == root; });
  if (same == calls.end()) {
    const bool synchronising = rank.doing.kind == mpi_call_kind::synchronising;
    same = calls.insert(calls.end(), {rank.doing.function, root, synchronising, {}, {}, nullptr, false});
  }
  same->ranks.add(rank.entry);
  // The ranks of one call share two sets at most: the root has its own.
  if (where.awaited == nullptr || where.awaited == same->last_awaited) return;
  same->awaited.add(*where.awaited);
  same->last_awaited = where.awaited;
}

/// Marks the calls that differ. No rank leaves a synchronising call before all are in it, so two such calls never
/// stand still side by side. A rank in another call may wait for ranks that have passed it, unless all ranks that it
/// waits for are in other collective calls.
void mark_different(std::vector<entered>& calls) {
  const auto synchronising =
      std::count_if(calls.begin(), calls.end(), [](const entered& one) { return one.synchronising; });
  rank_set all;
  for (const entered& one : calls) all.add(one.ranks);
  for (entered& one : calls) {
    if (one.synchronising) {
      one.differs = one.differs || synchronising > 1;
      continue;
    }
    if (one.awaited.empty() || !one.awaited.without(all).empty()) continue;
    one.differs = true;
    for (entered& other : calls) other.differs = other.differs || !other.ranks.both(one.awaited).empty();
  }
}

std::string text_of(const entered& one) {
  return one.root ? fmt::format("{} with root {}", one.function, *one.root) : one.function;
}

std::optional<call_mismatch> mismatch_of(const std::string& communicator, std::vector<entered> calls, bool certain) {
  mark_different(calls);
  std::erase_if(calls, [](const entered& one) { return !one.differs; });
  if (calls.size() < 2) return std::nullopt;
  std::sort(calls.begin(), calls.end(),
            [](const entered& a, const entered& b) { return a.ranks.lowest() < b.ranks.lowest(); });
  call_mismatch found;
  found.communicator = communicator;
  found.certain = certain;
  for (entered& one : calls) {
    found.certain = found.certain && one.synchronising;
    found.calls.push_back({text_of(one), std::move(one.ranks)});
  }
  return found;
}

}  // namespace

void add_mismatches(const picture& seen, const wait_graphs& graphs, std::vector<deadlock>& deadlocks) {
  const auto deadlock_of = deadlock_of_reports(deadlocks, seen);
  std::vector<entered_calls> calls(deadlocks.size());
  for (std::uint32_t report = 0; report < seen.ranks.size(); ++report) {
    const entered_call& where = graphs.entered[report];
    if (deadlock_of[report] == nowhere || where.communicator.empty()) continue;
    enter(calls[deadlock_of[report]][{where.communicator, where.key}], seen.ranks[report], where);
  }
  for (std::size_t place = 0; place < deadlocks.size(); ++place) {
    for (auto& [where, entered_there] : calls[place]) {
      auto found = mismatch_of(where.first, std::move(entered_there.calls), deadlocks[place].certain);
      if (found) deadlocks[place].mismatches.push_back(std::move(*found));
    }
  }
}

}  // namespace mpiacq::waits
