// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/queues/verdict.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "rank_words.hpp"

namespace mpiacq {

namespace {

using waits::counted_ranks;

constexpr std::size_t places_named = 3;

/// "in MPI_Recv at solver.c:88", "in no MPI call, at solver.c:88"
std::string place_of(const rank_call& call) {
  if (call.kind != mpi_call_kind::none) return fmt::format("in {}{}", call.function, site_text(call.at));
  return fmt::format("in no MPI call{}{}", call.at.is_known() ? "," : "", site_text(call.at));
}

/// "rank 3, which is in no MPI call, at solver.c:88"
std::string rank_with_place(const rank_call& call, const rank_names& names) {
  const bool one = call.ranks.count() == 1;
  std::string text = counted_ranks(call.ranks, names);
  switch (call.kind) {
    case mpi_call_kind::unknown:
      return text + ", whose calls are not known";
    case mpi_call_kind::ended:
      return text + (one ? ", which has ended" : ", which have ended");
    default:
      return fmt::format("{}, which {} {}", text, one ? "is" : "are", place_of(call));
  }
}

/// "rank 3 is in no MPI call, at solver.c:88"
std::string rank_is_at(const rank_call& call, const rank_names& names) {
  const bool one = call.ranks.count() == 1;
  const std::string text = counted_ranks(call.ranks, names);
  if (call.kind == mpi_call_kind::ended) return text + (one ? " has ended" : " have ended");
  return fmt::format("{} {} {}", text, one ? "is" : "are", place_of(call));
}

/// "rank 3 in MPI_Recv at solver.c:88"
std::string stopped_rank(const rank_call& call, const rank_names& names) {
  const std::string text = counted_ranks(call.ranks, names);
  return call.kind == mpi_call_kind::unknown ? text : fmt::format("{} {}", text, place_of(call));
}

/// The ranks as `text_of` has those of one place; only the first few places are named.
template <class TextOf>
std::string ranks_with_places(const std::vector<rank_call>& calls, const rank_names& names, TextOf text_of) {
  std::string text;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (i == places_named) return text + fmt::format(", and {} more places", calls.size() - i);
    if (i != 0) text += i + 1 == calls.size() ? ", and " : ", ";
    text += text_of(calls[i], names);
  }
  return text;
}

rank_set stopped_ranks(std::span<const rank_report> ranks) {
  rank_set stopped;
  for (const rank_report& rank : ranks) {
    if (rank.stopped_by_signal) stopped.add(rank.entry);
  }
  return stopped;
}

/// The calls of these ranks by their places. A rank without a report has an unknown call.
std::vector<rank_call> calls_of_ranks(const rank_set& which, std::span<const rank_report> ranks) {
  std::vector<rank_call> found;
  rank_set others = which;
  for (rank_call& call : calls_by_site(ranks)) {
    call.ranks = call.ranks.both(which);
    if (call.ranks.empty()) continue;
    others = others.without(call.ranks);
    found.push_back(std::move(call));
  }
  if (!others.empty()) found.push_back({{}, mpi_call_kind::unknown, others});
  return found;
}

/// "rank 0 waits for rank 1: in MPI_Recv at solver.c:88: ..."
std::string wait_text(const rank_wait& wait, const rank_names& names) {
  return fmt::format("rank {} {} for {}{}: {}", names.of(wait.from), wait.certain ? "waits" : "may wait",
                     wait.any_of && wait.to.count() > 1 ? "any of " : "", counted_ranks(wait.to, names), wait.why);
}

/// The first wait of one of these ranks.
const rank_wait* first_wait_of(const rank_set& ranks, const std::vector<rank_wait>& waits) {
  const auto at =
      std::find_if(waits.begin(), waits.end(), [&](const rank_wait& one) { return ranks.contains(one.from); });
  return at == waits.end() ? nullptr : &*at;
}

verdict of_deadlock(const deadlock& found, const queue_waits& all, const rank_names& names) {
  verdict given{found.certain ? verdict_basis::deadlock : verdict_basis::possible_deadlock, {}, {}};
  for (const entry_index entry : found.ranks) given.ranks.add(entry);
  given.sentence = fmt::format("{}: {}", found.certain ? "deadlock" : "perhaps a deadlock", found.sentence(names));
  if (const rank_wait* wait = first_wait_of(given.ranks, all.waits)) {
    const bool is_for_itself = given.ranks.count() == 1 && wait->to.contains(wait->from);
    given.sentence += "; " + (is_for_itself ? "it is " + wait->why : wait_text(*wait, names));
  }
  return given;
}

verdict of_mismatch(const call_mismatch& found, const rank_names& names) {
  verdict given{verdict_basis::mismatch, (found.certain ? "" : "perhaps ") + found.sentence(names), {}};
  for (const auto& one : found.calls) given.ranks.add(one.ranks);
  return given;
}

struct waiting_ranks {
  rank_set waiting;
  rank_set idle;  ///< ranks that others wait for, and that do not wait
  bool certain = true;
};

waiting_ranks waiting_ranks_of(const std::vector<rank_wait>& waits, bool only_certain) {
  waiting_ranks all;
  rank_set awaited;
  for (const rank_wait& wait : waits) {
    if (only_certain && !wait.certain) continue;
    all.waiting.add(wait.from);
    awaited.add(wait.to);
    all.certain = all.certain && wait.certain;
  }
  all.idle = awaited.without(all.waiting);
  return all;
}

std::string_view wait_verb(const waiting_ranks& all) {
  if (!all.certain) return "may wait";
  return all.waiting.count() == 1 ? "waits" : "wait";
}

/// The verdict names the ranks that wait for nobody while others wait for them.
verdict of_waits(const queue_waits& found, std::span<const rank_report> ranks, const rank_names& names) {
  waiting_ranks all = waiting_ranks_of(found.waits, false);
  // A rank that calls MPI_Test again and again may wait, and is the one that the others wait for.
  if (all.idle.empty()) all = waiting_ranks_of(found.waits, true);
  if (all.idle.empty()) {
    return {verdict_basis::wait, wait_text(found.waits.front(), names), rank_set(found.waits.front().from)};
  }
  return {verdict_basis::wait,
          fmt::format("{} {} for {}", counted_ranks(all.waiting, names), wait_verb(all),
                      ranks_with_places(calls_of_ranks(all.idle, ranks), names, rank_with_place)),
          all.idle};
}

/// The verdict on ranks that a signal has stopped, and on those that wait for them.
verdict of_stopped(const rank_set& stopped, const queue_waits& found, std::span<const rank_report> ranks,
                   const rank_names& names) {
  const std::string_view them = stopped.count() == 1 ? "it" : "them";
  verdict given{verdict_basis::stopped,
                fmt::format("a signal has stopped {}: only SIGCONT lets {} continue",
                            ranks_with_places(calls_of_ranks(stopped, ranks), names, stopped_rank), them),
                stopped};
  std::vector<rank_wait> for_them;
  std::copy_if(found.waits.begin(), found.waits.end(), std::back_inserter(for_them),
               [&](const rank_wait& wait) { return !wait.to.both(stopped).empty(); });
  if (for_them.empty()) return given;
  const waiting_ranks all = waiting_ranks_of(for_them, false);
  given.sentence += fmt::format("; {} {} for {}", counted_ranks(all.waiting, names), wait_verb(all), them);
  return given;
}

verdict of_odd_ranks(const odd_ranks& found, const rank_names& names) {
  verdict given{verdict_basis::odd_ranks,
                fmt::format("most ranks are in {}, but not {}", found.most.function,
                            ranks_with_places(found.others, names, rank_with_place)),
                {}};
  for (const rank_call& call : found.others) given.ranks.add(call.ranks);
  return given;
}

/// Where the ranks are whose calls are known.
std::string places_text(std::span<const rank_report> ranks, const rank_names& names) {
  std::vector<rank_call> calls = calls_by_site(ranks);
  std::erase_if(calls, [](const rank_call& call) { return call.kind == mpi_call_kind::unknown; });
  return calls.empty() ? "" : "; " + ranks_with_places(calls, names, rank_is_at);
}

/// If there is no reason among the ranks that were read, it may be in one that was not. If all were read, it may be
/// where they are: in a call that waits for another job, or in one whose other side is not known.
verdict of_nothing(std::span<const rank_report> ranks, const rank_names& names) {
  verdict given{verdict_basis::nothing, "no rank is known to wait for another", {}};
  const rank_report* first = nullptr;
  bool have_one_cause = true;
  for (const rank_report& rank : ranks) {
    // Without a queue library, the stack shows what the rank does.
    if (rank.report || rank.doing.kind != mpi_call_kind::unknown) continue;
    if (first == nullptr) first = &rank;
    have_one_cause = have_one_cause && rank.report.error().message == first->report.error().message;
    given.ranks.add(rank.entry);
  }
  if (first == nullptr) {
    given.sentence += places_text(ranks, names);
    return given;
  }
  const std::string which = have_one_cause ? "" : fmt::format("; rank {}", names.of(first->entry));
  given.sentence += fmt::format(", but {} could not be looked at{}: {}", counted_ranks(given.ranks, names), which,
                                first->report.error().message);
  return given;
}

}  // namespace

std::string_view name(verdict_basis basis) {
  switch (basis) {
    case verdict_basis::deadlock:
      return "deadlock";
    case verdict_basis::possible_deadlock:
      return "possible-deadlock";
    case verdict_basis::mismatch:
      return "mismatch";
    case verdict_basis::stopped:
      return "stopped";
    case verdict_basis::wait:
      return "wait";
    case verdict_basis::odd_ranks:
      return "odd-ranks";
    case verdict_basis::crash:
      return "crash";
    case verdict_basis::nothing:
      break;
  }
  return "nothing";
}

verdict find_verdict(const queue_waits& found, std::span<const rank_report> ranks, const rank_names& names) {
  const bool is_certain_deadlock = !found.deadlocks.empty() && found.deadlocks.front().certain;
  if (is_certain_deadlock) return of_deadlock(found.deadlocks.front(), found, names);
  const auto mismatch = std::find_if(found.mismatches.begin(), found.mismatches.end(),
                                     [](const call_mismatch& one) { return one.certain; });
  if (mismatch != found.mismatches.end()) return of_mismatch(*mismatch, names);
  if (const rank_set stopped = stopped_ranks(ranks); !stopped.empty()) return of_stopped(stopped, found, ranks, names);
  if (!found.deadlocks.empty()) return of_deadlock(found.deadlocks.front(), found, names);
  if (!found.mismatches.empty()) return of_mismatch(found.mismatches.front(), names);
  if (!found.waits.empty()) return of_waits(found, ranks, names);
  if (const auto odd = find_odd_ranks(ranks)) return of_odd_ranks(*odd, names);
  return of_nothing(ranks, names);
}

}  // namespace mpiacq
