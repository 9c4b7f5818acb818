// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"

namespace mpiacq {

/// Ranks that something was seen of: "0-3,7". Kept as ranges, since ranks that do the same are neighbours mostly: a
/// million of them may be 8 bytes. Unlike a rank_selection, which says what a person wants, it may be empty.
/// Thread: a value.
class rank_set {
 public:
  /// Both ends included.
  struct range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    friend bool operator==(const range&, const range&) = default;
  };

  rank_set() = default;
  explicit rank_set(std::uint32_t rank) : ranges_{{rank, rank}} {}

  /// Of a rank that is higher than all that are there, in constant time.
  void add(std::uint32_t rank);
  /// The union, and what is in both, and what is here and not there: each in one pass over the ranges of both.
  void add(const rank_set& others);
  [[nodiscard]] rank_set both(const rank_set& others) const;
  [[nodiscard]] rank_set without(const rank_set& others) const;

  [[nodiscard]] bool contains(std::uint32_t rank) const;
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  [[nodiscard]] std::uint64_t count() const;
  /// UINT32_MAX where it is empty, so that the empty one sorts last.
  [[nodiscard]] std::uint32_t lowest() const { return ranges_.empty() ? UINT32_MAX : ranges_.front().first; }
  /// In order, neither overlapping nor adjacent.
  [[nodiscard]] std::span<const range> ranges() const { return ranges_; }

  /// "0-3,7"; "" for none.
  [[nodiscard]] std::string text() const;
  /// What `text` gives. Errors: invalid_argument with the part that is none.
  [[nodiscard]] static result<rank_set> parse(std::string_view text);

  friend bool operator==(const rank_set&, const rank_set&) = default;

 private:
  void append(range next);
  std::vector<range> ranges_;
};

}  // namespace mpiacq
