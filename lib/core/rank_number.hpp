// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A rank as people write it.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mpiacq {

/// One less than the type holds: the rank after the last can be named, and the highest number can stand for none.
inline constexpr std::uint32_t last_rank = UINT32_MAX - 1;

[[nodiscard]] inline std::optional<std::uint32_t> rank_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || value > last_rank) return std::nullopt;
  return value;
}

}  // namespace mpiacq
