// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/job/rank_names.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace mpiacq {

namespace {
std::string world_text(std::uint32_t world) {
  return world == rank_names::no_world ? "?" : std::to_string(world);
}
}  // namespace

rank_names::rank_names(std::vector<std::uint32_t> worlds, std::vector<std::int32_t> ranks)
    : worlds_(std::move(worlds)),
      ranks_(std::move(ranks)),
      has_worlds_(std::any_of(worlds_.begin(), worlds_.end(), [](std::uint32_t world) { return world != 0; })) {}

std::string rank_names::of(std::size_t entry) const {
  return has_worlds() ? fmt::format("{}:{}", world_text(world(entry)), rank(entry)) : std::to_string(rank(entry));
}

std::string rank_names::text(const rank_set& entries) const {
  if (ranks_.empty()) return entries.text();
  std::string text;
  for (const rank_set::range& range : entries.ranges()) {
    // Consecutive entries are one range as long as their ranks are consecutive in one world.
    for (std::uint32_t first = range.first; first <= range.last;) {
      std::uint32_t last = first;
      while (last < range.last && world(last + 1) == world(first) && rank(last + 1) == rank(last) + 1) ++last;
      text += fmt::format("{}{}", text.empty() ? "" : ",", of(first));
      if (last != first) text += fmt::format("-{}", rank(last));
      first = last + 1;
    }
  }
  return text;
}

std::vector<std::uint32_t> rank_names::selected(const rank_selection& selection, std::size_t count) const {
  std::vector<std::uint32_t> entries;
  for (std::uint32_t entry = 0; entry < count; ++entry) {
    const std::int64_t number = rank(entry);
    const bool has_number = number >= 0 && number <= UINT32_MAX;
    if (selection.is_all() || (has_number && selection.contains(world(entry), static_cast<std::uint32_t>(number)))) {
      entries.push_back(entry);
    }
  }
  return entries;
}

}  // namespace mpiacq
