// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The ranks that a user has asked for.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// Some of the ranks of a job, as users write them: "0-3,8", or "all". In a job with several worlds (MPI2DD), "1:0-3"
/// are ranks of world 1, "1:all" is all of world 1, and ranks without a world are selected in each world. Thread: a
/// value.
class rank_selection {
 public:
  /// All ranks.
  rank_selection() = default;
  /// Parses ranks and ranges of ranks (both ends included), separated by commas, in any order, also overlapping; or
  /// "all". Errors: invalid_argument with the invalid part.
  [[nodiscard]] static result<rank_selection> parse(std::string_view text);

  /// Whether an entry is selected in a job with one world whose entries are in the order of their ranks.
  [[nodiscard]] bool contains(entry_index entry) const { return selects(0, entry.value()); }
  /// Whether a rank of a world is selected.
  [[nodiscard]] bool contains(std::uint32_t world, rank_number rank) const;
  /// Whether all ranks are selected.
  [[nodiscard]] bool is_all() const { return ranges_.empty(); }
  /// The highest selected rank; 0 for all.
  [[nodiscard]] std::uint32_t highest() const;
  /// The selected ranks among 0 to count-1 in order, in a job with one world.
  [[nodiscard]] std::vector<std::uint32_t> among(std::uint32_t count) const;
  /// The selection as text, in order and merged: "0-3,8", "0-3,1:8", "all".
  [[nodiscard]] std::string text() const;

 private:
  static constexpr std::int64_t each_world = -1;
  struct range {
    std::int64_t world = each_world;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    friend auto operator<=>(const range&, const range&) = default;
  };
  [[nodiscard]] bool selects(std::uint32_t world, std::uint32_t rank) const;
  [[nodiscard]] bool holds(std::int64_t world, std::uint32_t rank) const;
  std::vector<range> ranges_;  ///< in the order of worlds and ranks, not adjacent; none: all
};

}  // namespace mpiacq
