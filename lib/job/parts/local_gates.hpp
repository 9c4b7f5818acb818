// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "parts/job_event_queue.hpp"
#include "parts/job_timers.hpp"

namespace mpiacq {

/// Opens the gate of one rank of this node.
class gate_opener {
 public:
  virtual ~gate_opener() = default;
  /// Opens a rank's gate, where it is closed. The rank need not be held. False where the rank has no gate, or none yet:
  /// its program may not be loaded so far. An error may be passing, too: the rank may be in the middle of an exec.
  [[nodiscard]] virtual result<bool> open_gate(process_id rank) = 0;
};

/// The gates of the ranks of this node: which are still closed, and when they are tried again.
class local_gates {
 public:
  local_gates(job_event_queue& events, job_timers& timers) : events_(events), timers_(timers) {}

  /// A table was reported: the gates of its ranks are closed again as far as this object knows.
  void new_table() { are_opened_ = false; }
  /// `open` has been called for the table that was reported last.
  [[nodiscard]] bool are_opened() const { return are_opened_; }
  /// Opens the gates of these ranks, and tries those without a gate again later. A process that `is_rank` denies is
  /// left alone: it is asked when the process can no longer be replaced by another one.
  void open(std::span<const process_id> ranks, const std::function<bool(process_id)>& is_rank, gate_opener& opener);
  void retry(gate_opener& opener);
  /// The system has refused to open a gate since this was asked last.
  [[nodiscard]] bool take_refusal();

 private:
  /// A rank that is to go on, and in which no gate has been seen yet.
  struct closed_gate {
    process_id rank;
    base::unique_fd process;
    result<void> last_try;
  };
  /// True where the gate is open, or need not be.
  [[nodiscard]] bool try_one(closed_gate& gate, gate_opener& opener);

  job_event_queue& events_;
  job_timers& timers_;
  bool are_opened_ = false;
  bool is_refused_ = false;
  std::vector<closed_gate> closed_;
  clock::duration interval_{};  ///< until the next try
};

}  // namespace mpiacq
