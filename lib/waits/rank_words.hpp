// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Sets of ranks in sentences.
#pragma once

#include <string>

#include <fmt/format.h>

#include "mpiacq/job/rank_names.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq::waits {

/// "0-3,7"; a long list is cut short: "0,2,4,... (512 ranks)".
[[nodiscard]] inline std::string short_text(const rank_set& ranks, const rank_names& names) {
  constexpr std::size_t longest = 32;
  std::string text = names.text(ranks);
  if (text.size() <= longest) return text;
  text.resize(text.rfind(',', longest) + 1);
  return fmt::format("{}... ({} ranks)", text, ranks.count());
}

/// "rank 3", "ranks 0-2"
[[nodiscard]] inline std::string counted_ranks(const rank_set& ranks, const rank_names& names) {
  return fmt::format("{} {}", ranks.count() == 1 ? "rank" : "ranks", short_text(ranks, names));
}

}  // namespace mpiacq::waits
