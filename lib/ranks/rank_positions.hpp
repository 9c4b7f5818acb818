// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "mpiacq/process/unwinder.hpp"
#include "mpiacq/ranks/rank_results.hpp"
#include "rank_walker.hpp"

namespace mpiacq {

/// A stack of the last walk, with the names of its frames.
struct walked_stack {
  const raw_stack& raw;
  std::span<const stack_frame> frames;       ///< with inlined functions
  std::span<const std::size_t> raw_numbers;  ///< for each of `frames`, its frame in `raw`
};

/// Where the first thread of a rank is. The process may run: its stack is read from the copy that the walk used.
[[nodiscard]] rank_position position_of(entry_index entry, process_id pid, const walked_stack& stack,
                                        rank_walker& walker);

}  // namespace mpiacq
