// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <compare>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "picture.hpp"

namespace mpiacq::waits {

namespace {

/// The group for whose ranks a collective call waits: the other group for an intercommunicator.
const communicator_members& awaited(const picture& seen, std::uint32_t shared) {
  static const communicator_members nobody;
  const std::uint32_t peers = seen.shared.peers_of(shared);
  return peers == nowhere ? nobody : seen.shared.all[peers].members;
}

/// The communicator of a rank's collective call. The library's own operations show it. Otherwise the rank may have only
/// one possible communicator, or the call implies it.
std::uint32_t communicator_of(const picture& seen, std::uint32_t report) {
  if (seen.operations.internal_on[report] != nowhere) return seen.operations.internal_on[report];
  const bool of_all = seen.ranks[report].doing.function == "MPI_Finalize";
  std::uint32_t found = nowhere;
  const auto& own = seen.ranks[report].report->communicators;
  for (std::uint32_t place = 0; place < own.size(); ++place) {
    if (own[place].size < 2) continue;
    if (of_all && own[place].name == "MPI_COMM_WORLD") return seen.shared.of[report][place];
    if (found != nowhere && !of_all) return nowhere;
    found = seen.shared.of[report][place];
  }
  return of_all ? nowhere : found;
}

/// A guess for an unknown communicator: the one with most members in the same call and fewest members outside it.
std::uint32_t likely_communicator(const picture& seen, std::uint32_t report) {
  std::uint32_t best = nowhere;
  std::pair<std::int64_t, std::int64_t> best_count;  // members in the call; minus the number of members outside it
  const auto& own = seen.ranks[report].report->communicators;
  for (std::uint32_t place = 0; place < own.size(); ++place) {
    const std::uint32_t shared = seen.shared.of[report][place];
    if (own[place].size < 2 || seen.shared.all[shared].ambiguous) continue;
    std::pair<std::int64_t, std::int64_t> count;
    const communicator_members& members = awaited(seen, shared);
    members.for_each_known([&](std::size_t, std::int64_t member) {
      const std::uint32_t other = seen.known(static_cast<std::uint32_t>(member));
      if (other != nowhere && seen.ranks[other].doing.function == seen.ranks[report].doing.function) ++count.first;
    });
    count.second = count.first - static_cast<std::int64_t>(members.size());
    if (best != nowhere && count <= best_count) continue;
    best = shared;
    best_count = count;
  }
  return best;
}

/// A collective call, and the ranks that are in it.
struct gathering {
  std::vector<std::uint32_t> reports;
  bool synchronising = true;
};
struct call {
  std::uint32_t shared;
  std::string function;
  bool guessed;  ///< the communicator is a guess
  friend auto operator<=>(const call&, const call&) = default;
};

/// The ranks that were looked at and have not entered the call, and whether all members were looked at.
struct absentees {
  rank_set ranks;
  std::vector<needs::node> nodes;
  std::vector<std::uint32_t> not_known;
};

absentees who_is_missing(const picture& seen, const call& where, const std::vector<std::uint32_t>& is_on) {
  absentees missing;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;  // number, report
  const std::uint32_t peers = seen.shared.peers_of(where.shared);
  awaited(seen, where.shared).for_each_known([&](std::size_t, std::int64_t member) {
    const auto number = static_cast<std::uint32_t>(member);
    const std::uint32_t report = seen.known(number);
    if (report == nowhere || seen.ranks[report].doing.kind == mpi_call_kind::unknown) {
      missing.not_known.push_back(number);
      return;
    }
    // A rank that is in this call on an unknown communicator may be on this communicator.
    const bool same_call = seen.ranks[report].doing.function == where.function;
    if (same_call && (is_on[report] == peers || is_on[report] == nowhere)) return;
    found.emplace_back(number, report);
  });
  std::sort(found.begin(), found.end());
  for (const auto& [number, report] : found) {
    missing.ranks.add(number);
    missing.nodes.push_back(report);
  }
  return missing;
}

void tell(const picture& seen, const call& where, const gathering& those, const absentees& missing,
          wait_graphs& graphs) {
  const needs::node all_come = graphs.certain.add();
  (void)graphs.likely.add();
  for (const needs::node absent : missing.nodes) {
    graphs.certain.need(all_come, absent);
    graphs.likely.need(all_come, absent);
  }
  const std::string what = fmt::format("in {}{} on {}", where.function, where.guessed ? ", perhaps" : "",
                                       seen.communicator_name(where.shared));
  const std::string_view who = missing.ranks.count() == 1 ? "it has" : "they have";
  for (const std::uint32_t report : those.reports) {
    const bool certain = those.synchronising && !where.guessed && !seen.ranks[report].doing.other_threads;
    if (certain) graphs.certain.need(report, all_come);
    // A rank in MPI_Finalize does nothing for other ranks any more, even if it waits there.
    if (!does_nothing_more(seen.ranks[report].doing)) graphs.likely.need(report, all_come);
    std::string why = fmt::format("{}{}, which {} not come to", what, site_text(seen.ranks[report].doing.at), who);
    graphs.waits.push_back({seen.ranks[report].entry, missing.ranks, false, certain, std::move(why)});
  }
}

}  // namespace

void add_collectives(const picture& seen, wait_graphs& graphs, std::vector<std::string>& doubts) {
  std::map<call, gathering> calls;
  std::map<std::string, std::vector<std::uint32_t>> unknown_where;
  std::vector<std::uint32_t> is_on(seen.ranks.size(), nowhere);
  for (std::uint32_t report = 0; report < seen.ranks.size(); ++report) {
    const rank_activity& doing = seen.ranks[report].doing;
    if (!is_collective(doing.kind) || !seen.ranks[report].report) continue;
    is_on[report] = communicator_of(seen, report);
    const bool guessed = is_on[report] == nowhere || seen.shared.all[is_on[report]].ambiguous;
    const std::uint32_t shared = guessed ? likely_communicator(seen, report) : is_on[report];
    if (guessed) {
      is_on[report] = nowhere;
      unknown_where[doing.function].push_back(seen.ranks[report].entry.value());
    }
    if (shared == nowhere) continue;
    gathering& here = calls[{shared, doing.function, guessed}];
    here.reports.push_back(report);
    here.synchronising = doing.kind == mpi_call_kind::synchronising;
  }
  for (const auto& [where, those] : calls) {
    const absentees missing = who_is_missing(seen, where, is_on);
    if (!missing.nodes.empty()) tell(seen, where, those, missing, graphs);
    if (!missing.not_known.empty() && !where.guessed) {
      doubts.push_back(fmt::format("{}: whether they have come to {} on {} is not known",
                                   ranks_named(set_of(missing.not_known)), where.function,
                                   seen.communicator_name(where.shared)));
    }
  }
  for (const auto& [function, ranks] : unknown_where) {
    doubts.push_back(
        fmt::format("{}: in {}, on which communicator is not known", ranks_named(set_of(ranks)), function));
  }
}

}  // namespace mpiacq::waits
