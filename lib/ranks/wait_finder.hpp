// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "group_parts.hpp"
#include "mpiacq/ranks/confirmed_waits.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "spawned_processes.hpp"

namespace mpiacq {

/// Finds which rank of a group waits for which. If it finds a deadlock, it samples the calls of these ranks and reads
/// their queues again: a message that was in transit at the first look has arrived by the second one, and its receiver
/// has continued.
class wait_finder {
 public:
  wait_finder(rank_group& ranks, const group_parts& parts, const waits_options& options);
  [[nodiscard]] confirmed_waits find();

 private:
  void look();
  /// Reads all queues. A rank that another tool holds is retried.
  [[nodiscard]] group_queues read_all();
  void confirm();
  /// The ranks that several samples in a row do not all show in the same calls.
  [[nodiscard]] rank_set moved_among(const rank_set& ranks);
  /// Doubts what rests on ranks that had no chance to go on between the looks.
  void doubt_those_of(const rank_set& not_run);
  /// Drops deadlocks and mismatches of ranks that have moved since the first look, which had found these, and doubts
  /// those that are new.
  void drop_what_moved(const rank_set& moved, const std::set<std::vector<entry_index>>& before,
                       const std::vector<std::string>& mismatches);
  void doubt_all();

  rank_group& ranks_;
  const group_parts& parts_;
  bool confirms_;
  rank_queue_options how_;
  std::optional<spawned_processes> spawned_;  ///< set for a job with a table
  rank_set not_run_;                          ///< the ranks that had no chance to go on between the looks
  confirmed_waits found_;
};

}  // namespace mpiacq
