// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "judges/judging.hpp"

namespace mpiacq::check {

std::string_view name(verdict v) {
  constexpr std::array<std::string_view, 3> names = {"pass", "fail", "not-applicable"};
  return names[static_cast<std::size_t>(v)];
}

std::string_view name(binding b) {
  return b == binding::must ? "must" : "should";
}

bool definitions_seen::any_required() const {
  const auto known = mpir::known_symbols();
  return std::any_of(known.begin(), known.end(), [&](const mpir::known_symbol& s) { return s.required && has(s.id); });
}

const stop_seen* observations::spawn() const {
  const auto last = std::find_if(stops.rbegin(), stops.rend(), [](const stop_seen& s) { return s.table != nullptr; });
  if (last != stops.rend()) return &*last;
  return at_attach && at_attach->table ? &*at_attach : nullptr;
}

std::string_view name_of(mpir::known k) {
  return mpir::known_symbols()[static_cast<std::size_t>(k)].name;
}

std::string rank_list(const std::vector<std::size_t>& ranks) {
  constexpr std::size_t named = 4;
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.front());
  std::string text = "ranks ";
  const std::size_t shown = ranks.size() > named ? named - 1 : ranks.size();
  for (std::size_t i = 0; i < shown; ++i) {
    if (i != 0) text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return shown == ranks.size() ? text : text + fmt::format(" and {} more", ranks.size() - shown);
}

std::vector<std::size_t> ranks_where(const observations& o, const std::function<bool(const rank_seen&)>& holds) {
  std::vector<std::size_t> ranks;
  for (const rank_seen& r : o.ranks) {
    if (holds(r)) ranks.push_back(r.rank);
  }
  return ranks;
}

}  // namespace mpiacq::check
