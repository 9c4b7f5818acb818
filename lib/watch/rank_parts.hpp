// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "mpiacq/ranks/rank_group.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq::watching {

/// The ranks in parts of at most `size`, in the order of entries.
[[nodiscard]] inline std::vector<rank_set> parts_of(const rank_group& ranks, std::size_t size) {
  std::vector<rank_set> parts;
  std::size_t in_last = size;
  for (const rank_process& rank : ranks.ranks()) {
    if (in_last == size) {
      parts.emplace_back();
      in_last = 0;
    }
    parts.back().add(rank.entry);
    ++in_last;
  }
  return parts;
}

}  // namespace mpiacq::watching
