// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "report/call_chains.hpp"
#include "report/colours.hpp"
#include "report/queues_parts.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

using namespace colours;

constexpr std::size_t ring_shown = 12;
constexpr std::size_t waits_shown = 32;

std::string ring_text(const deadlock& found, const rank_names& names) {
  std::string text;
  for (std::size_t i = 0; i < found.ranks.size(); ++i) {
    if (i == ring_shown) return text + fmt::format("... ({} ranks)", found.ranks.size());
    text += names.of(found.ranks[i]) + " -> ";
  }
  return text + names.of(found.ranks.front());
}

std::string members_text(const deadlock& found, const rank_names& names) {
  rank_set all;
  for (const std::uint32_t rank : found.ranks) all.add(rank_set{rank});
  return ranks_text(all, names);
}

/// Ranks that wait for ranks that make no further MPI call.
std::string waiting_for_nothing_text(const deadlock& found, const rank_names& names) {
  rank_set waiting, awaited = found.in_finalize;
  awaited.add(found.ended);
  for (const std::uint32_t rank : found.ranks) {
    if (!awaited.contains(rank)) waiting.add(rank_set{rank});
  }
  const std::string who =
      fmt::format("{} {} for", ranks_words(waiting, names), waiting.count() == 1 ? "waits" : "wait");
  std::string whom;
  if (!found.in_finalize.empty()) {
    whom = fmt::format(" {}, which {} in MPI_Finalize and will neither send nor receive any more",
                       ranks_words(found.in_finalize, names), found.in_finalize.count() == 1 ? "is" : "are");
  }
  if (!found.ended.empty()) {
    whom += fmt::format("{} {}, which {} ended", whom.empty() ? "" : ", and for", ranks_words(found.ended, names),
                        found.ended.count() == 1 ? "has" : "have");
  }
  return who + whom;
}

std::string deadlock_text(const deadlock& found, const rank_names& names, bool colour) {
  const std::string who = found.is_ring ? ring_text(found, names) : members_text(found, names);
  std::string text =
      "  " + coloured(colour, found.certain ? red : yellow, found.certain ? "DEADLOCK" : "perhaps a deadlock");
  if (!found.in_finalize.empty() || !found.ended.empty()) {
    text += ": " + waiting_for_nothing_text(found, names);
  } else if (found.ranks.size() == 1) {
    text += fmt::format(": rank {} waits for itself", names.of(found.ranks.front()));
  } else {
    text += fmt::format(": {} {}", who,
                        found.is_ring ? "wait for each other" : "wait for each other; none of them can continue alone");
  }
  if (!found.behind.empty()) {
    text += fmt::format("; {} {} behind them", ranks_text(found.behind, names),
                        found.behind.count() == 1 ? "waits" : "wait");
  }
  return text + "\n";
}

/// Ranks that wait for the same ranks for the same reason. If one of several is enough, the ranks that wait and those
/// that they wait for are one crowd: the ranks of a receive from any source.
struct crowd {
  const rank_wait* wait = nullptr;
  rank_set from;
  rank_set all;  ///< including those that wait
};

std::vector<crowd> crowds_of(const std::vector<rank_wait>& waits) {
  std::map<std::tuple<std::string, std::string, bool, bool>, std::size_t> places;
  std::vector<crowd> crowds;
  for (const rank_wait& wait : waits) {
    rank_set all = wait.to;
    if (wait.any_of) all.add(rank_set{wait.from});
    const auto [at, is_new] = places.try_emplace({wait.why, all.text(), wait.any_of, wait.certain}, crowds.size());
    if (is_new) crowds.push_back({&wait, {}, all});
    crowds[at->second].from.add(rank_set{wait.from});
  }
  return crowds;
}

std::string to_text(const crowd& those, const rank_names& names, const rank_hosts& hosts) {
  const rank_wait& wait = *those.wait;
  if (wait.any_of && those.from.count() > 1) return "any other of " + ranks_text(those.all, names);
  if (wait.to.count() == 1) return "rank " + names.of(wait.to.lowest()) + hosts.behind(wait.to);
  return fmt::format("{} {}", wait.any_of ? "any of" : "ranks", ranks_text(wait.to, names));
}

}  // namespace

std::string waits_text(const queue_waits& waits, const rank_names& names, const rank_hosts& hosts, bool colour) {
  std::string text;
  for (const deadlock& found : waits.deadlocks) text += deadlock_text(found, names, colour);
  const auto crowds = crowds_of(waits.waits);
  std::size_t shown = 0;
  for (const crowd& those : crowds) {
    if (++shown > waits_shown) {
      text += fmt::format("  and {} more waits: see --json\n", crowds.size() - waits_shown);
      break;
    }
    const bool one = those.from.count() == 1;
    const std::string_view verb = those.wait->certain ? (one ? "waits" : "wait") : "may wait";
    text += fmt::format("  {}{} {} for {}: {}\n", ranks_words(those.from, names), hosts.behind(those.from), verb,
                        to_text(those, names, hosts), printable(those.wait->why));
  }
  if (crowds.empty()) text += "  no rank is known to wait for another\n";
  return text;
}

std::string doubts_text(const queue_waits& waits) {
  std::string text;
  for (const std::string& doubt : waits.doubts) text += "  not known: " + printable(doubt) + "\n";
  return text;
}

}  // namespace mpiacq::tool
