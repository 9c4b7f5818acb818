// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Where the ranks of a job were at the last samples.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "mpiacq/base/time_limit.hpp"
#include "mpiacq/queues/queue_waits.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "mpiacq/ranks/rank_results.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

/// One sample: the ranks by the places where they were.
struct history_sample {
  deadline when{};  ///< when it was taken
  /// Ranks in the same MPI call from the same place, or in the same function of the program outside of calls: then
  /// `at.line` is 0, because a rank that computes is at another line in each sample. In the order of their lowest
  /// ranks. The kind is `unknown` for ranks whose place is not known, and for those beyond the limit of places.
  std::vector<rank_call> places;
};

/// Ranks that have been at one place for the same number of samples.
struct rank_stay {
  rank_call where;             ///< the ranks, and the place
  clock::duration at_least{};  ///< from the first of these samples to the last one; zero if there is only one
  std::size_t samples = 0;     ///< the number of samples in a row, up to the last one
  bool since_first = false;    ///< also in the first sample that is kept: they may have been there for longer
};

/// The last samples of the stacks of a job. It answers for how long each rank has been where it is.
///
/// Samples show moments: a rank that was at the same place in two samples may have left it in between. Memory: a sample
/// keeps at most 1,000 places, and only the last samples are kept. Thread: a value.
class stack_history {
 public:
  /// A history of so many samples, at least one.
  explicit stack_history(std::size_t most_samples = 20);

  /// Takes a sample. `ranks_at_once` ranks are stopped together, each for a moment. Ranks that cannot be looked at,
  /// and those that a signal has stopped, are missing in the sample.
  void look(rank_group& ranks, std::size_t ranks_at_once = 4);
  /// Adds a sample that the caller has taken. Samples come in the order of time.
  void add(const group_stacks& seen, deadline when);

  /// The samples, the oldest first.
  [[nodiscard]] const std::deque<history_sample>& samples() const { return samples_; }
  /// The ranks of the last sample by where they are and for how long: the longest first, then by their lowest ranks.
  [[nodiscard]] std::vector<rank_stay> stays() const;

 private:
  std::size_t most_;
  std::deque<history_sample> samples_;
};

}  // namespace mpiacq
