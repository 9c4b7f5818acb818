// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/queues/mpi_call.hpp"
#include "mpiacq/ranks/rank_results.hpp"
#include "mpiacq/ranks/rank_selection.hpp"
#include "mpiacq/ranks/stacks.hpp"

namespace mpiacq {

/// The stacks of one rank.
struct rank_stacks {
  entry_index entry;
  process_id pid;
  result<void> taken;  ///< errors: those of `tracer::attach` and of the unwinder
  std::vector<thread_stack> threads;
  std::optional<rank_activity> doing = {};     ///< with arguments; empty if the caller did not ask for them
  std::optional<rank_position> position = {};  ///< empty if the caller did not ask for it
  bool stopped = false;                        ///< not taken: a signal has stopped it
  bool has_run = true;                         ///< false: it had no chance to go on (`stack_options::run_first`)
};

/// The stacks of a node's ranks at one moment: `call_tree` makes one of them.
struct node_stacks {
  std::vector<rank_stacks> ranks;  ///< one for each rank of the question, in that order
  /// The time from the first attach until all ranks were released. No rank was stopped for longer.
  clock::duration held_for{};
  std::vector<error> problems;  ///< problems with debug files since the last call
};

}  // namespace mpiacq
