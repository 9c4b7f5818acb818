// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/mpir/mpir_daemons.hpp"
#include "parts/job_event_queue.hpp"
#include "parts/job_timers.hpp"

namespace mpiacq {

/// What the kernel says of the children of a process. A test has its own.
class child_source {
 public:
  virtual ~child_source() = default;
  [[nodiscard]] virtual std::vector<process_id> children_of(process_id parent) const = 0;
  /// As the function of this name in proc/process_state.hpp.
  [[nodiscard]] virtual std::uint64_t faults_of_ended_children(process_id parent) const = 0;
};
/// The one that reads /proc.
[[nodiscard]] const child_source& children_in_proc();

/// Sees that the starter has started the tool's daemons (MPIR 1.1, 7.1). A starter that was launched says so itself.
/// One that was attached to may not: a child that is new, or has come and gone, is the sign.
class daemon_watch {
 public:
  daemon_watch(const child_source& children, job_event_queue& events, job_timers& timers)
      : children_(children), events_(events), timers_(timers) {}

  /// The starter that was attached to has been asked for daemons, if `how` says so: looks for them from now on.
  void expect_from(process_id starter, mpir::daemon_launch how);
  /// Looks now: reports the daemons, or looks again later.
  void look();
  /// Reports that the daemons have been started, once in a job.
  void report();
  void stop() { timers_.clear(job_timer::daemons); }

 private:
  const child_source& children_;
  job_event_queue& events_;
  job_timers& timers_;
  process_id starter_;
  std::set<process_id> children_before_;  ///< when the daemons were asked for
  std::uint64_t faults_before_ = 0;       ///< of the ended children, at that moment
  bool is_reported_ = false;
};

}  // namespace mpiacq
