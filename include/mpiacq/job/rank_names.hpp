// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpiacq/ranks/rank_selection.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

/// What the entries of a process table are called. With MPIR an entry's place is its rank, and that is its name: "3".
/// An MPI2DD job has several worlds, each with a rank 0: there it is "WORLD:RANK", with the worlds numbered as
/// `process_table::worlds` has them. As long as a job has one world only, its ranks have no more than their numbers.
/// Thread: a value.
class rank_names {
 public:
  /// Each entry is the rank of its number.
  rank_names() = default;
  /// The world and the rank of each entry, in order. `worlds` and `ranks` have the same size.
  rank_names(std::vector<std::uint32_t> worlds, std::vector<std::int32_t> ranks);

  /// The world of an entry that belongs to none that is known.
  static constexpr std::uint32_t no_world = UINT32_MAX;
  [[nodiscard]] std::uint32_t world(std::size_t entry) const { return worlds_.empty() ? 0 : worlds_[entry]; }
  [[nodiscard]] std::int64_t rank(std::size_t entry) const {
    return ranks_.empty() ? static_cast<std::int64_t>(entry) : ranks_[entry];
  }
  /// There are two of them, or entries of no known world.
  [[nodiscard]] bool has_worlds() const { return has_worlds_; }

  /// "3", "1:3", or "?:3" in no known world.
  [[nodiscard]] std::string of(std::size_t entry) const;
  /// Of a set of entries: "0-3,7", "0:0-3,1:0"; "" for none.
  [[nodiscard]] std::string text(const rank_set& entries) const;
  /// The entries that a person has selected, of `count`, in order.
  [[nodiscard]] std::vector<std::uint32_t> selected(const rank_selection& selection, std::size_t count) const;

 private:
  std::vector<std::uint32_t> worlds_;  // both empty: entry and rank are one
  std::vector<std::int32_t> ranks_;
  bool has_worlds_ = false;
};

}  // namespace mpiacq
