// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "call_movement.hpp"
#include "mpiacq/base/time_limit.hpp"
#include "mpiacq/ranks/rank_results.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq::watching {

/// For how long no rank of a job has moved, from looks at parts of the job.
class stillness {
 public:
  /// A job whose ranks are looked at in so many parts.
  explicit stillness(std::size_t parts) : calls_(parts), in_calls_(parts), outside_(parts) {}

  /// A look at one part.
  void add(std::size_t part, const group_stacks& seen, deadline when);

  /// Since when no rank has moved. Empty before the first look, and while no rank is in an MPI call.
  [[nodiscard]] std::optional<deadline> since() const;
  /// The ranks of the last look at each part.
  [[nodiscard]] rank_set in_calls() const { return all_of(in_calls_); }
  [[nodiscard]] rank_set outside() const { return all_of(outside_); }

 private:
  [[nodiscard]] static rank_set all_of(const std::vector<rank_set>& parts);

  std::vector<call_movement> calls_;
  std::vector<rank_set> in_calls_, outside_;  ///< of each part
  std::optional<deadline> since_;
};

}  // namespace mpiacq::watching
