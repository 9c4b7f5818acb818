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
  /// `ranks` has the selected ranks that are looked at; the others are remote in the report.
  queues_session(std::shared_ptr<rank_group> ranks, const job_description& job, const rank_selection& selection,
                 const queue_request& request);

  /// Called with the number of ranks that have been read, and of all.
  void on_progress(std::function<void(std::size_t, std::size_t)> tell) { tell_ = std::move(tell); }
  [[nodiscard]] std::size_t rank_count() const { return ranks_->ranks().size(); }

  /// Reads the queues, and a second time where that shows a deadlock.
  void look() { take({how_, true, {}}); }
  /// Reads them once.
  void take() { take({how_, false, {}}); }
  [[nodiscard]] queues_snapshot& snapshot() { return snapshot_; }
  /// The ranks of other nodes whose libraries name a function for new processes: nothing follows them.
  [[nodiscard]] rank_set spawn_elsewhere() const;
  /// From now on follows the ranks of this node whose libraries name such a function; empty where there is none.
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

/// The request for a job: a starter with MPIR_ignore_queues wants no queue library to be loaded (MPIR 1.1, 9.14),
/// unless the user names one.
[[nodiscard]] queue_request request_for(queue_request request, const job_description& job);

/// The ranks that were chosen: where that is by a communicator, the ranks of the running job that are members of one of
/// this name in some rank that can be looked at, through agents as `agents_for` has it. `stop`: a descriptor that can
/// be read when it is to end. Errors: as `job_description::ranks`; not_found where no rank has such a communicator.
[[nodiscard]] result<rank_selection> ranks_of(const rank_choice& choice, const job_description& job,
                                              const queue_request& request, const debug_file_search& search,
                                              agent_start agents, int stop);

}  // namespace mpiacq::tool
