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

constexpr std::size_t waits_shown = 32;

std::string mismatch_text(const call_mismatch& one, const rank_names& names) {
  return fmt::format("{}{}\n", one.certain ? "" : "perhaps ", printable(one.sentence(names)));
}

std::string deadlock_text(const deadlock& found, const rank_names& names, bool colour) {
  const auto what = coloured(colour, found.certain ? red : yellow, found.certain ? "DEADLOCK" : "perhaps a deadlock");
  std::string text = fmt::format("  {}: {}\n", what, found.sentence(names));
  for (const call_mismatch& one : found.mismatches) text += "    " + mismatch_text(one, names);
  return text;
}

/// Ranks that wait for the same ranks for the same reason. If any one of several ranks would end the wait, the waiting
/// ranks and the awaited ranks are the same set: the ranks of a receive from any source.
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
  if (wait.to.count() == 1) return "rank " + names.of(entry_index{wait.to.lowest()}) + hosts.behind(wait.to);
  return fmt::format("{} {}", wait.any_of ? "any of" : "ranks", ranks_text(wait.to, names));
}

}  // namespace

std::string waits_text(const queue_waits& waits, const rank_names& names, const rank_hosts& hosts, bool colour) {
  std::string text;
  for (const deadlock& found : waits.deadlocks) text += deadlock_text(found, names, colour);
  for (const call_mismatch& one : waits.mismatches) text += "  " + mismatch_text(one, names);
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
