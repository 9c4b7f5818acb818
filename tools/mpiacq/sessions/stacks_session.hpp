// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "mpiacq/job/job_description.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "report/stacks_report.hpp"

namespace mpiacq::tool {

/// The stacks of a job's ranks, sample after sample, and the outcome for each rank.
class stacks_session {
 public:
  /// `ranks` has the selected ranks that are read; the others are remote in the report.
  /// `arguments`: those of the MPI calls of the ranks are read, too.
  stacks_session(std::shared_ptr<rank_group> ranks, const job_description& job, const rank_selection& selection,
                 bool all_threads, bool arguments = false);

  /// Adds a sample.
  void sample();
  /// Adds a sample in which the ranks that have failed have these stacks.
  void sample_with(const group_stacks& failed);
  [[nodiscard]] stacks_snapshot& snapshot() { return snapshot_; }
  /// Whether one of the ranks could not be read in any sample.
  [[nodiscard]] bool rank_failed() const;

 private:
  void add(group_stacks seen);
  [[nodiscard]] std::vector<stacked_rank*> rows_of(const rank_set& ranks);

  std::shared_ptr<rank_group> ranks_;
  stack_options how_;
  stacks_snapshot snapshot_;
};

}  // namespace mpiacq::tool
