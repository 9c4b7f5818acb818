// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// A set of ranks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq {

/// A set of ranks, by their entries in the process table: "0-3,7". It consists of ranges, because ranks that do the
/// same are mostly neighbours: a million of them may take 8 bytes. Unlike a rank_selection, which says what a user
/// wants, it may be empty. Thread: a value.
class rank_set {
 public:
  /// A range of ranks, with both ends included.
  struct range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    friend bool operator==(const range&, const range&) = default;
  };

  /// The empty set.
  rank_set() = default;
  /// The set of one rank.
  explicit rank_set(std::uint32_t rank) : ranges_{{rank, rank}} {}
  /// The set of one entry.
  explicit rank_set(entry_index entry) : rank_set(entry.value()) {}

  /// Adds a rank. It takes constant time if the rank is higher than all others.
  void add(std::uint32_t rank);
  /// Adds an entry of the process table.
  void add(entry_index entry) { add(entry.value()); }
  /// Adds all ranks of another set, in one pass over the ranges of both.
  void add(const rank_set& others);
  /// The ranks that are in both sets, in one pass over the ranges of both.
  [[nodiscard]] rank_set both(const rank_set& others) const;
  /// The ranks of this set that are not in `others`, in one pass over the ranges of both.
  [[nodiscard]] rank_set without(const rank_set& others) const;

  /// Whether a rank is in the set.
  [[nodiscard]] bool contains(std::uint32_t rank) const;
  /// Whether an entry of the process table is in the set.
  [[nodiscard]] bool contains(entry_index entry) const { return contains(entry.value()); }
  /// Whether the set is empty.
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  /// The number of ranks.
  [[nodiscard]] std::uint64_t count() const;
  /// The lowest rank; UINT32_MAX in the empty set, so that it sorts last.
  [[nodiscard]] std::uint32_t lowest() const { return ranges_.empty() ? UINT32_MAX : ranges_.front().first; }
  /// The ranges in order, neither overlapping nor adjacent.
  [[nodiscard]] std::span<const range> ranges() const { return ranges_; }
  /// Calls `visit(entry_index)` for each rank, in order. The set must not change meanwhile.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const range& some : ranges_) {
      for (std::uint64_t rank = some.first; rank <= some.last; ++rank) {  // the last rank may be UINT32_MAX
        visit(entry_index{static_cast<std::uint32_t>(rank)});
      }
    }
  }

  /// The set as text: "0-3,7"; "" for the empty set.
  [[nodiscard]] std::string text() const;
  /// Parses what `text` returns. Errors: invalid_argument with the invalid part.
  [[nodiscard]] static result<rank_set> parse(std::string_view text);

  friend bool operator==(const rank_set&, const rank_set&) = default;

 private:
  void append(range next);
  std::vector<range> ranges_;
};

}  // namespace mpiacq
