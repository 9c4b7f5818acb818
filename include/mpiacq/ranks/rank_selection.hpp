// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"

namespace mpiacq {

/// Some of a job's ranks, as people write them: "0-3,8", or all. In a job of several worlds (MPI2DD) "1:0-3" are ranks
/// of world 1, "1:all" are all of it, and what names no world means each.
class rank_selection {
 public:
  /// All of them.
  rank_selection() = default;
  /// Ranks and ranges of them (both ends included) with commas between; "all". In any order, also overlapping.
  /// Errors: invalid_argument with the part that is none.
  [[nodiscard]] static result<rank_selection> parse(std::string_view text);

  /// The rank of that number in a job of one world.
  [[nodiscard]] bool contains(std::uint32_t rank) const { return contains(0, rank); }
  [[nodiscard]] bool contains(std::uint32_t world, std::uint32_t rank) const;
  [[nodiscard]] bool is_all() const { return ranges_.empty(); }
  /// The highest rank that is named; 0 for all.
  [[nodiscard]] std::uint32_t highest() const;
  /// Those among 0 .. count-1, in order, in a job of one world.
  [[nodiscard]] std::vector<std::uint32_t> among(std::uint32_t count) const;
  /// "0-3,8", "0-3,1:8", in order and merged; "all".
  [[nodiscard]] std::string text() const;

 private:
  static constexpr std::int64_t each_world = -1;
  struct range {
    std::int64_t world = each_world;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    friend auto operator<=>(const range&, const range&) = default;
  };
  [[nodiscard]] bool holds(std::int64_t world, std::uint32_t rank) const;
  std::vector<range> ranges_;  ///< by world and rank, apart from each other; none: all
};

}  // namespace mpiacq
