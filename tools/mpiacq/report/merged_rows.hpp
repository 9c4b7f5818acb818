// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq::tool {

/// The rows of several ranks in one list. Each rank's rows stay in that rank's own order, and ranks share a row where
/// their orders allow it. Only the first rows are kept.
template <class Cells>
class merged_rows {
 public:
  struct row {
    Cells cells;
    rank_set ranks;
  };

  explicit merged_rows(std::size_t most) : most_(most) {}

  /// The largest number of rows that are kept.
  [[nodiscard]] std::size_t most() const { return most_; }
  [[nodiscard]] const std::vector<row>& rows() const { return rows_; }

  /// The first rows of a rank, in its order. Ranks are added in ascending order.
  void add(entry_index entry, const std::vector<Cells>& own) {
    const auto shared = longest_common(own);
    std::vector<row> merged;
    std::size_t next = 0;  // of `rows_`
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (shared[i] == none) {
        // A row of its own stands as late as the next shared row allows, so that other ranks share the rows before it.
        const auto until = std::find_if(shared.begin() + static_cast<std::ptrdiff_t>(i), shared.end(),
                                        [](std::size_t place) { return place != none; });
        move_rows(merged, next, until == shared.end() ? rows_.size() : *until);
        merged.push_back({own[i], rank_set(entry)});
      } else {
        move_rows(merged, next, shared[i]);
        rows_[next].ranks.add(entry);
        move_rows(merged, next, next + 1);
      }
    }
    move_rows(merged, next, rows_.size());
    if (merged.size() > most_) merged.erase(merged.begin() + static_cast<std::ptrdiff_t>(most_), merged.end());
    rows_ = std::move(merged);
  }

 private:
  static constexpr std::size_t none = SIZE_MAX;

  void move_rows(std::vector<row>& into, std::size_t& next, std::size_t end) {
    for (; next < end; ++next) into.push_back(std::move(rows_[next]));
  }

  /// For each of a rank's rows the index of the row that it shares: a longest common subsequence.
  [[nodiscard]] std::vector<std::size_t> longest_common(const std::vector<Cells>& own) const {
    const std::size_t stride = rows_.size() + 1;
    std::vector<std::size_t> length((own.size() + 1) * stride, 0);
    for (std::size_t i = own.size(); i-- > 0;) {
      for (std::size_t r = rows_.size(); r-- > 0;) {
        length[i * stride + r] = own[i] == rows_[r].cells
                                     ? length[(i + 1) * stride + r + 1] + 1
                                     : std::max(length[(i + 1) * stride + r], length[i * stride + r + 1]);
      }
    }
    std::vector<std::size_t> shared(own.size(), none);
    for (std::size_t i = 0, r = 0; i < own.size() && r < rows_.size();) {
      if (own[i] == rows_[r].cells) {
        shared[i++] = r++;
      } else if (length[(i + 1) * stride + r] >= length[i * stride + r + 1]) {
        ++i;
      } else {
        ++r;
      }
    }
    return shared;
  }

  std::size_t most_;
  std::vector<row> rows_;
};

}  // namespace mpiacq::tool
