// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// Which rank of a job waits for which, and which ranks wait for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "mpiacq/base/time_limit.hpp"
#include "mpiacq/job/rank_names.hpp"
#include "mpiacq/queues/queue_waits.hpp"
#include "mpiacq/ranks/rank_options.hpp"
#include "mpiacq/ranks/rank_report.hpp"

namespace mpiacq {

/// How `rank_group::waits` works.
struct waits_options {
  /// Empty: `rank_options::queues` of the group.
  std::optional<rank_queue_options> queues = {};
  /// Look a second time where there seems to be a deadlock or a mismatch: a message that is on its way during one look
  /// has arrived before the next.
  bool confirm = true;
  /// Called on the caller's thread with the number of ranks that this look has read, the number of all ranks, and the
  /// number of complete looks before this one. Empty: nothing is called.
  std::function<void(std::size_t read, std::size_t all, std::size_t looks)> progress = {};
};

/// What the ranks of a group wait for. The members of `queue_waits` come from the last complete look. Deadlocks and
/// mismatches of ranks that have moved between the looks are left out. A deadlock that only the second look shows is
/// not `certain`.
struct confirmed_waits : queue_waits {
  group_queues seen;           ///< reports of the last complete look, or of the first; notes and problems of all looks
  std::size_t looks = 0;       ///< the number of looks
  clock::duration held_for{};  ///< for how long ranks were stopped, in all looks together
  /// The call was cancelled or ran out of time: some ranks were perhaps not read, or a deadlock was not looked at
  /// twice.
  bool interrupted = false;
};

/// The reports of a job of several worlds, for `find_waits`. A queue library names the peers of a rank by their ranks
/// in its world, and each world has a rank 0. The returned reports name them by their entries in the job's table, which
/// has `entries` entries. Peers in other worlds stay without an entry. Communicators of different worlds are never
/// taken for one unless the library lists their members.
[[nodiscard]] std::vector<rank_report> by_entries(std::span<const rank_report> ranks, const rank_names& names,
                                                  std::size_t entries);

}  // namespace mpiacq
