// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "mpiacq/queues/queue_waits.hpp"
#include "rank_words.hpp"

namespace mpiacq {

namespace {

using waits::counted_ranks;
using waits::short_text;

constexpr std::size_t ring_shown = 12;
constexpr std::size_t calls_shown = 8;

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
  for (const entry_index entry : found.ranks) all.add(entry);
  return short_text(all, names);
}

/// Ranks that wait for ranks that make no further MPI call.
std::string idle_text(const deadlock& found, const rank_names& names) {
  rank_set waiting, awaited = found.in_finalize;
  awaited.add(found.ended);
  for (const entry_index entry : found.ranks) {
    if (!awaited.contains(entry)) waiting.add(entry);
  }
  std::string text = fmt::format("{} {} for", counted_ranks(waiting, names), waiting.count() == 1 ? "waits" : "wait");
  if (!found.in_finalize.empty()) {
    text += fmt::format(" {}, which {} in MPI_Finalize and will neither send nor receive any more",
                        counted_ranks(found.in_finalize, names), found.in_finalize.count() == 1 ? "is" : "are");
  }
  if (!found.ended.empty()) {
    text += fmt::format("{} {}, which {} ended", found.in_finalize.empty() ? "" : ", and for",
                        counted_ranks(found.ended, names), found.ended.count() == 1 ? "has" : "have");
  }
  return text;
}

std::string who_waits(const deadlock& found, const rank_names& names) {
  if (!found.in_finalize.empty() || !found.ended.empty()) return idle_text(found, names);
  if (found.ranks.size() == 1) return fmt::format("rank {} waits for itself", names.of(found.ranks.front()));
  if (found.is_ring) return ring_text(found, names) + " wait for each other";
  return members_text(found, names) + " wait for each other; none of them can continue alone";
}

}  // namespace

std::string deadlock::sentence(const rank_names& names) const {
  std::string text = who_waits(*this, names);
  if (!behind.empty())
    text += fmt::format("; {} {} behind them", short_text(behind, names), behind.count() == 1 ? "waits" : "wait");
  return text;
}

std::string call_mismatch::sentence(const rank_names& names) const {
  std::string text = fmt::format("the collective calls on {} do not match: ", communicator);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto& [call, ranks] = calls[i];
    if (i == calls_shown) return text + fmt::format(", and {} more", calls.size() - i);
    text += fmt::format("{}{} {} in {}", i == 0 ? "" : ", ", counted_ranks(ranks, names),
                        ranks.count() == 1 ? "is" : "are", call);
  }
  return text;
}

}  // namespace mpiacq
