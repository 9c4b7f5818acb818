// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/ranks/rank_selection.hpp"
#include "mpiacq/ranks/stacks.hpp"

namespace mpiacq {

/// The stacks of one rank.
struct rank_stacks {
  entry_index entry;
  process_id pid;
  result<void> taken;  ///< else why not, as `tracer::attach` or `unwinder` say it
  std::vector<thread_stack> threads;
};

/// The stacks of a node's ranks at one moment: `call_tree` makes one of them.
struct node_stacks {
  std::vector<rank_stacks> ranks;  ///< one for each that was asked for, in that order
  /// From the first thing that was done to a rank until all had been let go. No rank was stopped for longer.
  clock::duration held_for{};
  std::vector<error> problems;  ///< what was wrong with files of names, since the last time
};

}  // namespace mpiacq
