// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "rank_sets/rank_text.hpp"

#include <charconv>
#include <iterator>

#include <fmt/format.h>

namespace mpiacq {

std::optional<std::uint32_t> number_in(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || value > last_rank) return std::nullopt;
  return value;
}

std::optional<rank_range> range_in(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = number_in(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number_in(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return rank_range{*first, *last};
}

void append_range(std::string& text, rank_range range) {
  fmt::format_to(std::back_inserter(text), "{}", range.first);
  if (range.last != range.first) fmt::format_to(std::back_inserter(text), "-{}", range.last);
}

}  // namespace mpiacq
