// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Names of ranks, also in jobs with several worlds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/ranks/rank_selection.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

/// The names of the entries of a process table. With MPIR, the index of an entry is its rank, and that is its name:
/// "3". An MPI2DD job can have several worlds, each with a rank 0: then the name is "WORLD:RANK", with the number of
/// the world in `process_table::worlds`. In a job with one world a name is only the rank. Thread: a value.
class rank_names {
 public:
  /// Names for a job in which the index of each entry is its rank.
  rank_names() = default;
  /// Names for entries with these worlds and ranks. `worlds` and `ranks` have the same size.
  rank_names(std::vector<std::uint32_t> worlds, std::vector<rank_number> ranks);

  /// The world of an entry that belongs to no known world.
  static constexpr std::uint32_t no_world = UINT32_MAX;
  /// The world of an entry.
  [[nodiscard]] std::uint32_t world(entry_index entry) const { return worlds_.empty() ? 0 : worlds_[entry.value()]; }
  /// The rank of an entry in its world.
  [[nodiscard]] rank_number rank(entry_index entry) const {
    return ranks_.empty() ? rank_number{static_cast<std::int32_t>(entry.value())} : ranks_[entry.value()];
  }
  /// Whether there are several worlds, or entries of no known world.
  [[nodiscard]] bool has_worlds() const { return has_worlds_; }

  /// The name of an entry: "3", "1:3", or "?:3" in no known world.
  [[nodiscard]] std::string of(entry_index entry) const;
  /// The names of a set of entries: "0-3,7", "0:0-3,1:0"; "" for none.
  [[nodiscard]] std::string text(const rank_set& entries) const;
  /// The entries of a selection among `count` entries, in order.
  [[nodiscard]] std::vector<entry_index> selected(const rank_selection& selection, std::size_t count) const;

 private:
  std::vector<std::uint32_t> worlds_;  // both empty: entry and rank are one
  std::vector<rank_number> ranks_;
  bool has_worlds_ = false;
};

}  // namespace mpiacq
