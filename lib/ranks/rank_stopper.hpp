// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

/// Stops ranks for a look and releases them. A process can have only one tracer: a stopper uses either a tracer of its
/// own, or that of the job that follows the ranks already.
class rank_stopper {
 public:
  virtual ~rank_stopper() = default;
  /// As `tracer::attach_all`.
  [[nodiscard]] virtual std::vector<result<void>> take(std::span<const attach_target> ranks) = 0;
  /// As `tracer::detach_all`.
  virtual std::vector<result<void>> let_go(std::span<const process_id> ranks, leave how = leave::running) = 0;
  /// As `tracer::registers`.
  [[nodiscard]] virtual std::vector<result<std::vector<thread_registers>>> registers(std::span<const process_id> ranks,
                                                                                     which_threads which,
                                                                                     register_sets sets) const = 0;
  /// As `tracer::keep_held`.
  virtual void keep_held() = 0;
  /// The next event of a held rank; empty if there is none.
  [[nodiscard]] virtual std::optional<process_event> next_event() = 0;

  /// Whether a signal has stopped a rank that the job traces. False for each other rank.
  [[nodiscard]] virtual bool is_in_group_stop(process_id rank) const {
    (void)rank;
    return false;
  }

  /// Follows ranks to their ends, with one outcome for each: they run on, and `next_event` returns process_ending for
  /// each that is about to end. It is held then, until `let_go`.
  [[nodiscard]] virtual std::vector<result<void>> follow(std::span<const attach_target> ranks) {
    return std::vector<result<void>>(ranks.size(), fail(error_code::unsupported, "the job traces its ranks already"));
  }
  /// Releases all followed ranks, and follows none any more.
  virtual void unfollow() {}
  /// Readable when `next_event` has an event of a followed rank; -1: no rank can be followed.
  [[nodiscard]] virtual int event_descriptor() const { return -1; }
};

}  // namespace mpiacq
