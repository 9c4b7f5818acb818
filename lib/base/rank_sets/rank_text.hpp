// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Ranks and ranges of ranks as text: "8", "0-3".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mpiacq {

/// One less than the largest value of the type: the rank after the last one can be named, and the largest value means
/// "none".
inline constexpr std::uint32_t last_rank = UINT32_MAX - 1;

struct rank_range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// The number of a rank, at most `last_rank`; empty if the text is no rank.
[[nodiscard]] std::optional<std::uint32_t> number_in(std::string_view text);
/// A rank or a range; empty if the text is neither, or if the range ends before it begins.
[[nodiscard]] std::optional<rank_range> range_in(std::string_view text);
/// Appends the range in the form that `range_in` reads.
void append_range(std::string& text, rank_range range);

}  // namespace mpiacq
