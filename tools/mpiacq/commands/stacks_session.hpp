// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "mpiacq/job/job_description.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "report/stacks_report.hpp"

namespace mpiacq::tool {

/// The stacks of a job's ranks, sample after sample, and what became of each rank.
class stacks_session {
 public:
  /// `ranks` has the selected ranks that are looked at; the others are remote in the report.
  stacks_session(std::shared_ptr<rank_group> ranks, const job_description& job, const rank_selection& selection,
                 bool all_threads);

  /// Adds what the ranks are doing now. A rank that another tool holds is tried again for a moment.
  void sample();
  [[nodiscard]] stacks_snapshot& snapshot() { return snapshot_; }
  /// Whether a rank that is looked at could not be taken in any sample.
  [[nodiscard]] bool rank_failed() const;

 private:
  /// Takes up what a look at some ranks came to; those that are held by another tool.
  [[nodiscard]] std::vector<entry_index> take(const group_stacks& seen, call_tree& moment, bool last_try);
  [[nodiscard]] std::vector<stacked_rank*> rows_of(const rank_set& ranks);

  std::shared_ptr<rank_group> ranks_;
  stack_options how_;
  stacks_snapshot snapshot_;
};

}  // namespace mpiacq::tool
