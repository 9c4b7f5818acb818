// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/ranks/rank_set.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "rank_sets/rank_text.hpp"

namespace mpiacq {

namespace {

bool begins_before(const rank_set::range& a, const rank_set::range& b) {
  return a.first < b.first;
}

}  // namespace

/// `next` begins at or behind the beginning of each existing range.
void rank_set::append(range next) {
  if (!ranges_.empty() && next.first <= std::uint64_t{ranges_.back().last} + 1) {
    ranges_.back().last = std::max(ranges_.back().last, next.last);
  } else {
    ranges_.push_back(next);
  }
}

void rank_set::add(std::uint32_t rank) {
  if (ranges_.empty() || rank >= ranges_.back().first) return append({rank, rank});
  if (!contains(rank)) add(rank_set(rank));
}

void rank_set::add(const rank_set& others) {
  if (others.empty()) return;
  if (empty() || others.ranges_.front().first >= ranges_.back().first) {
    for (const range& next : others.ranges_) append(next);
    return;
  }
  std::vector<range> mine = std::move(ranges_);
  ranges_.clear();
  ranges_.reserve(mine.size() + others.ranges_.size());
  auto here = mine.begin();
  for (const range& there : others.ranges_) {
    for (; here != mine.end() && begins_before(*here, there); ++here) append(*here);
    append(there);
  }
  for (; here != mine.end(); ++here) append(*here);
}

rank_set rank_set::both(const rank_set& others) const {
  rank_set common;
  auto there = others.ranges_.begin();
  for (const range& here : ranges_) {
    while (there != others.ranges_.end() && there->last < here.first) ++there;
    // One range of `others` may overlap several of this set, so the last one is visited again.
    for (auto next = there; next != others.ranges_.end() && next->first <= here.last; ++next) {
      common.append({std::max(here.first, next->first), std::min(here.last, next->last)});
      there = next;
    }
  }
  return common;
}

rank_set rank_set::without(const rank_set& others) const {
  rank_set rest;
  auto there = others.ranges_.begin();
  for (const range& here : ranges_) {
    std::uint64_t from = here.first;
    while (there != others.ranges_.end() && there->last < here.first) ++there;
    for (auto next = there; next != others.ranges_.end() && next->first <= here.last; ++next) {
      if (next->first > from) rest.append({static_cast<std::uint32_t>(from), next->first - 1});
      from = std::uint64_t{next->last} + 1;
      there = next;
    }
    if (from <= here.last) rest.append({static_cast<std::uint32_t>(from), here.last});
  }
  return rest;
}

bool rank_set::contains(std::uint32_t rank) const {
  const auto after =
      std::upper_bound(ranges_.begin(), ranges_.end(), rank, [](auto r, const range& have) { return r < have.first; });
  return after != ranges_.begin() && rank <= std::prev(after)->last;
}

std::uint64_t rank_set::count() const {
  std::uint64_t count = 0;
  for (const range& r : ranges_) count += std::uint64_t{r.last} - r.first + 1;
  return count;
}

std::string rank_set::text() const {
  std::string text;
  for (const range& r : ranges_) {
    if (!text.empty()) text += ',';
    append_range(text, {r.first, r.last});
  }
  return text;
}

result<rank_set> rank_set::parse(std::string_view text) {
  std::vector<range> read;
  for (std::size_t at = 0; !text.empty() && at <= text.size();) {
    const std::string_view part = text.substr(at, text.find(',', at) - at);
    at += part.size() + 1;
    const auto next = range_in(part);
    if (!next) {
      constexpr std::size_t shown = 200;
      return fail(error_code::invalid_argument,
                  fmt::format("'{}' in the ranks '{}' is no rank and no range of ranks (as in 0-3,8)",
                              part.substr(0, shown), text.substr(0, shown)));
    }
    read.push_back({next->first, next->last});
  }
  // All ranges at once: each union is a pass over the whole set, and texts come from other hosts too.
  std::sort(read.begin(), read.end(), begins_before);
  rank_set all;
  for (const range& next : read) all.append(next);
  return all;
}

}  // namespace mpiacq
