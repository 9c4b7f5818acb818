// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "mpiacq/base/time_limit.hpp"
#include "mpiacq/ranks/job_watch.hpp"
#include "mpiacq/ranks/rank_results.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "rank_movement.hpp"

namespace mpiacq::watching {

/// For how long no rank of a job has moved, from looks at parts of the job.
class stillness {
 public:
  /// A job whose ranks are looked at in these parts.
  explicit stillness(std::vector<rank_set> parts) : parts_(std::move(parts)) {}

  [[nodiscard]] const std::vector<rank_set>& parts() const { return parts_; }
  /// A look at one part. Ranks of other parts in it do not count.
  void add(std::size_t part, const group_stacks& seen, deadline when);

  /// Since when no rank has moved. Empty before the first look, and while no rank waits in an MPI call or polls.
  [[nodiscard]] std::optional<deadline> since() const;
  /// The ranks as they are now, for a job that has stood still until `now`.
  [[nodiscard]] job_stands_still described(deadline now) const;

 private:
  std::vector<rank_set> parts_;
  std::map<entry_index, rank_movement> ranks_;
  std::optional<deadline> since_;
};

}  // namespace mpiacq::watching
