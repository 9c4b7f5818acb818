// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/ranks/rank_selection.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "rank_sets/rank_text.hpp"

namespace mpiacq {

result<rank_selection> rank_selection::parse(std::string_view text) {
  rank_selection selection;
  if (text == "all") return selection;
  for (std::size_t at = 0; at <= text.size();) {
    const std::string_view part = text.substr(at, text.find(',', at) - at);
    at += part.size() + 1;
    const auto colon = part.find(':');
    const auto world = colon == std::string_view::npos ? std::nullopt : number_in(part.substr(0, colon));
    const std::string_view ranks = part.substr(colon == std::string_view::npos ? 0 : colon + 1);
    const auto read = world && ranks == "all" ? rank_range{0, last_rank} : range_in(ranks);
    if (!read || (colon != std::string_view::npos && !world)) {
      return fail(error_code::invalid_argument,
                  fmt::format("'{}' in the selection '{}' is no rank and no range of ranks (as in 0-3,8)", part, text));
    }
    selection.ranges_.push_back({world ? std::int64_t{*world} : each_world, read->first, read->last});
  }
  auto& ranges = selection.ranges_;
  std::sort(ranges.begin(), ranges.end());
  std::size_t kept = 0;
  for (const range& next : ranges) {
    if (kept > 0 && next.world == ranges[kept - 1].world && next.first <= ranges[kept - 1].last + 1) {
      ranges[kept - 1].last = std::max(ranges[kept - 1].last, next.last);
    } else {
      ranges[kept++] = next;
    }
  }
  ranges.resize(kept);
  return selection;
}

bool rank_selection::contains(std::uint32_t world, rank_number rank) const {
  return is_all() || (rank.value() >= 0 && selects(world, static_cast<std::uint32_t>(rank.value())));
}

bool rank_selection::selects(std::uint32_t world, std::uint32_t rank) const {
  return ranges_.empty() || holds(each_world, rank) || holds(world, rank);
}

bool rank_selection::holds(std::int64_t world, std::uint32_t rank) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), range{world, rank, UINT32_MAX});
  return after != ranges_.begin() && std::prev(after)->world == world && rank <= std::prev(after)->last;
}

std::uint32_t rank_selection::highest() const {
  std::uint32_t highest = 0;
  for (const range& r : ranges_) highest = std::max(highest, r.last);
  return highest;
}

std::vector<std::uint32_t> rank_selection::among(std::uint32_t count) const {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    if (contains(entry_index{rank})) ranks.push_back(rank);
  }
  return ranks;
}

std::string rank_selection::text() const {
  if (ranges_.empty()) return "all";
  std::string text;
  for (const range& r : ranges_) {
    if (!text.empty()) text += ",";
    if (r.world != each_world) text += fmt::format("{}:", r.world);
    if (r.world != each_world && r.first == 0 && r.last == last_rank) {
      text += "all";
      continue;
    }
    append_range(text, {r.first, r.last});
  }
  return text;
}

}  // namespace mpiacq
