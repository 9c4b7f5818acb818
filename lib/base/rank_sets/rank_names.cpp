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

rank_names::rank_names(std::vector<std::uint32_t> worlds, std::vector<rank_number> ranks)
    : worlds_(std::move(worlds)),
      ranks_(std::move(ranks)),
      has_worlds_(std::any_of(worlds_.begin(), worlds_.end(), [](std::uint32_t world) { return world != 0; })) {}

std::string rank_names::of(entry_index entry) const {
  if (ranks_.empty()) return std::to_string(entry.value());
  const std::int32_t number = rank(entry).value();
  return has_worlds() ? fmt::format("{}:{}", world_text(world(entry)), number) : std::to_string(number);
}

std::string rank_names::text(const rank_set& entries) const {
  if (ranks_.empty()) return entries.text();
  const auto number = [this](std::uint32_t entry) { return rank(entry_index{entry}).value(); };
  const auto world_of = [this](std::uint32_t entry) { return world(entry_index{entry}); };
  std::string text;
  for (const rank_set::range& range : entries.ranges()) {
    // Consecutive entries are one range as long as their ranks are consecutive in one world.
    for (std::uint32_t first = range.first; first <= range.last;) {
      std::uint32_t last = first;
      while (last < range.last && world_of(last + 1) == world_of(first) && number(last + 1) == number(last) + 1) ++last;
      text += fmt::format("{}{}", text.empty() ? "" : ",", of(entry_index{first}));
      if (last != first) text += fmt::format("-{}", number(last));
      first = last + 1;
    }
  }
  return text;
}

std::vector<entry_index> rank_names::selected(const rank_selection& selection, std::size_t count) const {
  std::vector<entry_index> entries;
  for (std::size_t place = 0; place < count; ++place) {
    const entry_index entry{place};
    if (selection.contains(world(entry), rank(entry))) entries.push_back(entry);
  }
  return entries;
}

}  // namespace mpiacq
