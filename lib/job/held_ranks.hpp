// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <span>
#include <vector>

#include "mpiacq/mpir_ranks.hpp"
#include "mpiacq/tracer.hpp"
#include "traced_program.hpp"

namespace mpiacq {

/// The ranks of this node that are held beside the starter, and the gates of those that are not.
class held_ranks {
 public:
  held_ranks(tracer& control, debug_file_search search) : control_(control), search_(std::move(search)) {}

  /// All threads of all of them stopped, and then MPIR_being_debugged = 1 where a rank has it (MPIR 1.1, 9.3). One
  /// outcome for each, in order; errors as `tracer::attach_all`.
  [[nodiscard]] std::vector<result<void>> hold(std::span<const process_id> ranks);
  [[nodiscard]] bool holds(process_id rank) const { return held_.contains(rank); }
  /// MPIR_being_debugged = 0, and no longer ours.
  [[nodiscard]] result<void> let_go(process_id rank, leave how);
  /// What became of a rank; true where it was one of ours.
  [[nodiscard]] bool handle(const process_event& event);

  /// Opens a rank's gate (9.8): MPIR_debug_gate = 1, where it is closed. The rank need not be held. False where there
  /// is none (yet): its program may not have been loaded so far. Errors, too, may be of a moment in the middle of an
  /// exec.
  [[nodiscard]] result<bool> open_gate(process_id rank);

 private:
  [[nodiscard]] result<void> tell(process_id rank);
  tracer& control_;
  debug_file_search search_;
  std::set<process_id> held_;
};

}  // namespace mpiacq
