// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <optional>

#include "mpiacq/job/job.hpp"

namespace mpiacq {

/// The events that the caller of `job::next` has not taken yet, in order, and the breakpoint hits that are handled
/// only afterwards: handling one changes what the events before it describe.
class job_event_queue {
 public:
  void add(job_event event) { events_.push_back(std::move(event)); }
  void notice(error what) { add(job_notice{std::move(what)}); }
  /// Notices a failure, unless the process has ended: the end of a process is an event of its own.
  void notice_failure(const result<void>& done);

  /// The oldest event, taken out of the queue.
  [[nodiscard]] std::optional<job_event> take();
  [[nodiscard]] std::size_t size() const { return events_.size(); }
  [[nodiscard]] bool has_events() const { return !events_.empty(); }
  /// Moves the notices among the events from place `first` on before the others: the caller knows what went wrong
  /// before it decides about a process that stays stopped.
  void put_notices_first(std::size_t first);
  /// Drops every event that asks the caller for an answer.
  void keep_only_notices();

  void defer(process_event hit) { deferred_.push_back(std::move(hit)); }
  [[nodiscard]] std::optional<process_event> take_deferred();
  [[nodiscard]] bool has_deferred() const { return !deferred_.empty(); }
  void drop_deferred() { deferred_.clear(); }

  /// Whether an event that `process` raised still waits here. MPIR's events name no process: the starter raises them.
  [[nodiscard]] bool has_event_of(process_id process, process_id starter) const;

 private:
  std::deque<job_event> events_;
  std::deque<process_event> deferred_;
};

}  // namespace mpiacq
