// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mpiacq/ranks/rank_set.hpp"
#include "report/queues_report.hpp"

namespace mpiacq::tool {

/// Ranks that a drawing of the waits shows as one.
struct wait_group {
  rank_set ranks;
  std::string doing;          ///< where they are; printable
  bool in_deadlock = false;   ///< one of them is in a deadlock
  bool waits_inside = false;  ///< some of them wait for others of them
};

/// Some ranks of one group wait for ranks of another one.
struct group_wait {
  std::size_t from = 0, to = 0;  ///< indices of groups
  bool certain = true;
  std::string why;  ///< of the first such wait; printable
};

/// The waits of a job, for a drawing that a person can read: a group for each rank of a small job, of a small deadlock
/// and of the verdict, and a group for all other ranks at one place.
struct wait_groups {
  static constexpr std::size_t most = 40;  ///< groups; the last one then has all ranks that are left
  std::vector<wait_group> groups;
  std::vector<group_wait> waits;
};

/// `first`: the ranks to look at first; few of them get groups of their own.
[[nodiscard]] wait_groups grouped_waits(const queues_snapshot& snapshot, const rank_set& first);

}  // namespace mpiacq::tool
