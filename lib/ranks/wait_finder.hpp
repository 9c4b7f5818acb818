// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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
  /// Whether one look is not enough for it.
  [[nodiscard]] bool is_to_be_confirmed(const deadlock& one) const;
  [[nodiscard]] bool any_is_to_be_confirmed() const;
  /// Whether several samples in a row show all of these ranks in the same calls as before.
  [[nodiscard]] bool stay_where_they_are(const rank_set& ranks);
  /// The current MPI calls of these ranks, in a form that can be compared with another sample.
  [[nodiscard]] std::vector<std::string> calls_now(const stack_options& how);
  void doubt_all();

  rank_group& ranks_;
  const group_parts& parts_;
  bool confirms_;
  rank_queue_options how_;
  std::optional<spawned_processes> spawned_;  ///< set for a job with a table
  confirmed_waits found_;
};

}  // namespace mpiacq
