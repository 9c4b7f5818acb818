// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "mpiacq/job/job_description.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "mpiacq/ranks/spawn_watch.hpp"
#include "options/rank_options.hpp"
#include "report/queues_report.hpp"

namespace mpiacq::tool {

/// The message queues of a job, and which rank waits for which.
class queues_session {
 public:
  /// `ranks` has the selected ranks that are read; the others are remote in the report.
  queues_session(std::shared_ptr<rank_group> ranks, const job_description& job, const rank_selection& selection,
                 const queue_request& request);

  /// Calls `tell` with the number of ranks that have been read, and of all.
  void on_progress(std::function<void(std::size_t, std::size_t)> tell) { tell_ = std::move(tell); }
  [[nodiscard]] std::size_t rank_count() const { return ranks_->ranks().size(); }

  /// Reads the queues, and a second time if that shows a deadlock.
  void look() { take({how_, true, {}}); }
  /// Reads them once.
  void take() { take({how_, false, {}}); }
  [[nodiscard]] queues_snapshot& snapshot() { return snapshot_; }
  /// The ranks of other nodes whose libraries name a function for new processes. These are not followed.
  [[nodiscard]] rank_set spawn_elsewhere() const;
  /// Follows the ranks of this node whose libraries name such a function; null if there are none.
  [[nodiscard]] std::unique_ptr<spawn_watch> watch_spawns() { return ranks_->watch_spawns(snapshot_.seen, how_); }
  /// Whether a rank could not be read, or not to the end.
  [[nodiscard]] bool rank_failed() const;

 private:
  void take(waits_options how);

  std::shared_ptr<rank_group> ranks_;
  rank_queue_options how_;
  std::function<void(std::size_t, std::size_t)> tell_;
  queues_snapshot snapshot_;
};

/// `look`, with progress on a terminal.
void look_with_progress(queues_session& session);

/// The request for a job. A starter with MPIR_ignore_queues asks tools not to load a queue library (MPIR 1.1, 9.14);
/// this is respected unless the user names one.
[[nodiscard]] queue_request request_for(queue_request request, const job_description& job);

/// The chosen ranks. A choice by communicator means the members of a communicator with this name in any readable rank
/// of the running job; `agents_for` decides about agents. `stop`: a descriptor that becomes readable to cancel. Errors:
/// as `job_description::ranks`; not_found if no rank has such a communicator.
[[nodiscard]] result<rank_selection> ranks_of(const rank_choice& choice, const job_description& job,
                                              const queue_request& request, const debug_file_search& search,
                                              agent_start agents, int stop);

}  // namespace mpiacq::tool
