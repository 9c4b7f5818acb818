// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Ranks and ranges of them as people write them: "8", "0-3".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mpiacq {

/// One less than the type holds: the rank after the last can be named, and the highest number stands for "none".
inline constexpr std::uint32_t last_rank = UINT32_MAX - 1;

struct rank_range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// Empty where it is no rank, up to `last_rank`.
[[nodiscard]] std::optional<std::uint32_t> rank_number(std::string_view text);
/// A rank or a range; empty where it is neither, or ends before it begins.
[[nodiscard]] std::optional<rank_range> range_in(std::string_view text);
/// What `range_in` reads, behind what is there.
void append_range(std::string& text, rank_range range);

}  // namespace mpiacq
