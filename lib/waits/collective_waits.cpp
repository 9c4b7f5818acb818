// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <compare>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "call_facts.hpp"
#include "picture.hpp"

namespace mpiacq::waits {

namespace {

/// The group for whose ranks a collective call waits: the other group for an intercommunicator.
const communicator_members& awaited(const picture& seen, std::uint32_t shared) {
  static const communicator_members nobody;
  const std::uint32_t peers = seen.shared.peers_of(shared);
  return peers == nowhere ? nobody : seen.shared.all[peers].members;
}

/// The predefined communicator that the arguments of a call name; `nowhere` if they do not, or if the rank does not
/// have exactly one communicator with this name.
std::uint32_t named_communicator(const picture& seen, std::uint32_t report) {
  const mpi_argument* on = argument_of(seen.ranks[report].doing, mpi_role::communicator);
  if (on == nullptr || on->name.empty()) return nowhere;
  std::uint32_t found = nowhere;
  const auto& own = seen.ranks[report].report->communicators;
  for (std::uint32_t place = 0; place < own.size(); ++place) {
    if (own[place].name != on->name) continue;
    if (found != nowhere) return nowhere;
    found = seen.shared.of[report][place];
  }
  return found;
}

/// Whether the arguments of the call show that it is not on this communicator.
bool is_excluded(const rank_activity& doing, const queue_communicator& one) {
  const mpi_argument* on = argument_of(doing, mpi_role::communicator);
  return on != nullptr && on->name.empty() && (one.name == "MPI_COMM_WORLD" || one.name == "MPI_COMM_SELF");
}

/// The communicator of a rank's collective call. The call's argument names it, or the library's own operations show it.
/// Otherwise the rank may have only one possible communicator, or the call implies it.
std::uint32_t communicator_of(const picture& seen, std::uint32_t report) {
  if (seen.shared.called[report] != nowhere) return seen.shared.called[report];
  if (const std::uint32_t named = named_communicator(seen, report); named != nowhere) return named;
  if (seen.operations.internal_on[report] != nowhere) return seen.operations.internal_on[report];
  const bool of_all = seen.ranks[report].doing.function == "MPI_Finalize";
  std::uint32_t found = nowhere;
  const auto& own = seen.ranks[report].report->communicators;
  for (std::uint32_t place = 0; place < own.size(); ++place) {
    if (own[place].size < 2 || is_excluded(seen.ranks[report].doing, own[place])) continue;
    if (of_all && own[place].name == "MPI_COMM_WORLD") return seen.shared.of[report][place];
    if (found != nowhere && !of_all) return nowhere;
    found = seen.shared.of[report][place];
  }
  return of_all ? nowhere : found;
}

/// Whether the object that the call names says which ranks it is for.
bool knows_called(const picture& seen, std::uint32_t report) {
  const std::uint32_t called = seen.shared.called[report];
  return called != nowhere && !seen.shared.all[called].ambiguous;
}

/// A guess for an unknown communicator: the one with most members in the same call and fewest members outside it.
std::uint32_t likely_communicator(const picture& seen, std::uint32_t report) {
  std::uint32_t best = nowhere;
  std::pair<std::int64_t, std::int64_t> best_count;  // members in the call; minus the number of members outside it
  const auto& own = seen.ranks[report].report->communicators;
  for (std::uint32_t place = 0; place < own.size(); ++place) {
    const std::uint32_t shared = seen.shared.of[report][place];
    if (own[place].size < 2 || seen.shared.all[shared].ambiguous) continue;
    if (is_excluded(seen.ranks[report].doing, own[place])) continue;
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
  bool in_neighbourhood = false;
};
struct call {
  std::uint32_t shared;
  std::string function;
  std::optional<std::uint32_t> root;  ///< empty: none, or not known
  bool guessed;                       ///< the communicator is a guess
  friend auto operator<=>(const call&, const call&) = default;
};

/// Whether calls with these roots may be one call.
bool may_be_same_root(const std::optional<std::uint32_t>& a, const std::optional<std::uint32_t>& b) {
  return !a || !b || *a == *b;
}

/// The ranks that were looked at and have not entered the call, and those that were not looked at.
struct absentees {
  std::vector<absentee> known;  ///< in order of their numbers
  std::vector<std::uint32_t> not_known;
};

absentees who_is_missing(const picture& seen, const call& where, const std::vector<std::uint32_t>& is_on) {
  absentees missing;
  const std::uint32_t peers = seen.shared.peers_of(where.shared);
  awaited(seen, where.shared).for_each_known([&](std::size_t member_rank, std::int64_t member) {
    const auto number = static_cast<std::uint32_t>(member);
    const std::uint32_t report = seen.known(number);
    if (report == nowhere || seen.ranks[report].doing.kind == mpi_call_kind::unknown) {
      missing.not_known.push_back(number);
      return;
    }
    const rank_activity& doing = seen.ranks[report].doing;
    // A rank that is in this call on an unknown communicator may be on this communicator.
    const bool same_call = doing.function == where.function && may_be_same_root(where.root, root_of(doing));
    if (same_call && (is_on[report] == peers || is_on[report] == nowhere)) return;
    const bool has_ranks = is_collective(doing.kind) || is_collective_on_file(doing);
    const bool in_another = does_nothing_more(doing) || (has_ranks && is_on[report] == peers);
    missing.known.push_back({number, report, where.root == member_rank, in_another});
  });
  std::sort(missing.known.begin(), missing.known.end(),
            [](const absentee& a, const absentee& b) { return a.number < b.number; });
  return missing;
}

/// A node that goes on when all of these do.
needs::node node_of_all(const std::vector<absentee>& these, wait_graphs& graphs) {
  const needs::node all = graphs.certain.add();
  (void)graphs.likely.add();
  for (const absentee& one : these) {
    graphs.certain.need(all, one.report);
    graphs.likely.need(all, one.report);
  }
  return all;
}

rank_set numbers_of(const std::vector<absentee>& these) {
  rank_set numbers;
  for (const absentee& one : these) numbers.add(one.number);
  return numbers;
}

/// The ranks of one call that wait for the same ranks.
void tell(const picture& seen, const call& where, bool synchronising, const std::vector<std::uint32_t>& reports,
          const std::vector<absentee>& missing, wait_graphs& graphs) {
  if (reports.empty() || missing.empty()) return;
  const needs::node all_come = node_of_all(missing, graphs);
  const auto numbers = std::make_shared<const rank_set>(numbers_of(missing));
  const std::string_view absence = missing.size() == 1 ? (synchronising ? "it has not come to" : "it is not in")
                                                       : (synchronising ? "they have not come to" : "they are not in");
  const std::string what = fmt::format("in {}{} on {}", where.function, where.guessed ? ", perhaps" : "",
                                       seen.communicator_name(where.shared));
  for (const std::uint32_t report : reports) {
    const bool certain = synchronising && !where.guessed && !seen.ranks[report].doing.other_threads;
    if (certain) graphs.certain.need(report, all_come);
    // A rank in MPI_Finalize does nothing for other ranks any more, even if it waits there.
    if (!does_nothing_more(seen.ranks[report].doing)) graphs.likely.need(report, all_come);
    std::string why = fmt::format("{}{}, which {}", what, site_text(seen.ranks[report].doing.at), absence);
    graphs.waits.push_back({seen.ranks[report].entry, *numbers, false, certain, std::move(why)});
    graphs.entered[report].awaited = numbers;
  }
}

/// Those of the missing ranks from which a rank in a neighbourhood collective call receives.
std::vector<absentee> missing_neighbours(const communicator_members& members, const std::vector<std::int64_t>& sources,
                                         const std::vector<absentee>& missing) {
  std::vector<std::int64_t> numbers;
  for (const std::int64_t rank : sources) numbers.push_back(members[static_cast<std::size_t>(rank)]);
  std::sort(numbers.begin(), numbers.end());
  std::vector<absentee> some;
  std::copy_if(missing.begin(), missing.end(), std::back_inserter(some), [&](const absentee& one) {
    return std::binary_search(numbers.begin(), numbers.end(), std::int64_t{one.number});
  });
  return some;
}

/// Each rank of a neighbourhood collective call waits for its own neighbours, if they are known. The other ranks are
/// left in `reports`.
void tell_neighbours(const picture& seen, const call& where, std::vector<std::uint32_t>& reports,
                     const std::vector<absentee>& missing, wait_graphs& graphs) {
  std::vector<std::uint32_t> others;
  for (const std::uint32_t report : reports) {
    const auto& on = seen.ranks[report].doing.on;
    if (where.guessed || !on || !on->sources) {
      others.push_back(report);
      continue;
    }
    const auto own = missing_neighbours(seen.shared.all[where.shared].members, *on->sources, missing);
    tell(seen, where, false, {report}, probably_awaited(own, where.function, false), graphs);
  }
  reports = std::move(others);
}

/// The ranks of a synchronising call wait for all missing ranks. In other calls, the root decides who waits for whom.
void tell_all(const picture& seen, const call& where, const gathering& those, const std::vector<absentee>& missing,
              wait_graphs& graphs) {
  if (those.synchronising) return tell(seen, where, true, those.reports, missing, graphs);
  const communicator_members& members = seen.shared.all[where.shared].members;
  const auto is_root = [&](std::uint32_t report) {
    return where.root && members[*where.root] == seen.ranks[report].entry.value();
  };
  for (const role_in_call& role : root_and_others(those.reports, is_root, missing, where.function)) {
    tell(seen, where, false, role.reports, role.awaited, graphs);
  }
}

}  // namespace

void add_collectives(const picture& seen, wait_graphs& graphs, std::vector<std::string>& doubts) {
  std::map<call, gathering> calls;
  std::map<std::string, std::vector<std::uint32_t>> unknown_where;
  std::map<std::pair<std::uint32_t, std::string>, roots_apart> roots;
  std::vector<std::uint32_t> is_on(seen.ranks.size(), nowhere);
  for (std::uint32_t report = 0; report < seen.ranks.size(); ++report) {
    const rank_activity& doing = seen.ranks[report].doing;
    const bool has_ranks = is_collective(doing.kind) || (is_collective_on_file(doing) && knows_called(seen, report));
    if (!has_ranks || !seen.ranks[report].report) continue;
    is_on[report] = communicator_of(seen, report);
    const bool guessed = is_on[report] == nowhere || seen.shared.all[is_on[report]].ambiguous;
    const std::uint32_t shared = guessed ? likely_communicator(seen, report) : is_on[report];
    if (guessed) {
      is_on[report] = nowhere;
      unknown_where[doing.function].push_back(seen.ranks[report].entry.value());
    }
    if (shared == nowhere) continue;
    gathering& here = calls[{shared, doing.function, roots[{shared, doing.function}].of(doing), guessed}];
    here.reports.push_back(report);
    here.synchronising = doing.kind == mpi_call_kind::synchronising;
    here.in_neighbourhood = doing.kind == mpi_call_kind::neighbourhood;
    if (!guessed) graphs.entered[report] = {seen.communicator_name(shared), shared, nullptr};
  }
  for (auto& [where, those] : calls) {
    const absentees missing = who_is_missing(seen, where, is_on);
    if (those.in_neighbourhood) tell_neighbours(seen, where, those.reports, missing.known, graphs);
    tell_all(seen, where, those, missing.known, graphs);
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
