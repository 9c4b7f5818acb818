// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/error.hpp"

namespace mpiacq {

/// Some of a job's ranks, as people write them: "0-3,8", or all.
class rank_selection {
 public:
  /// All of them.
  rank_selection() = default;
  /// Ranks and ranges of them (both ends included) with commas between; "all". In any order, also overlapping.
  /// Errors: invalid_argument with the part that is none.
  [[nodiscard]] static result<rank_selection> parse(std::string_view text);

  [[nodiscard]] bool contains(std::uint32_t rank) const;
  [[nodiscard]] bool is_all() const { return ranges_.empty(); }
  /// The highest rank that is named; 0 for all.
  [[nodiscard]] std::uint32_t highest() const { return ranges_.empty() ? 0 : ranges_.back().last; }
  /// Those among 0 .. count-1, in order.
  [[nodiscard]] std::vector<std::uint32_t> among(std::uint32_t count) const;
  /// "0-3,8", in order and merged; "all".
  [[nodiscard]] std::string text() const;

 private:
  struct range {
    std::uint32_t first;
    std::uint32_t last;
  };
  std::vector<range> ranges_;  ///< in order, apart from each other; none: all
};

}  // namespace mpiacq
