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

/// Finds which rank of a group waits for which. Where some wait for ever, it observes in which calls they stay, and
/// reads their queues again: a message that was on its way at one moment has arrived at another, and then its rank has
/// gone on.
class wait_finder {
 public:
  wait_finder(rank_group& ranks, const group_parts& parts, const waits_options& options);
  [[nodiscard]] confirmed_waits find();

 private:
  void look();
  /// Ranks that another tool holds for a moment are tried again.
  [[nodiscard]] group_queues read_all();
  void confirm();
  /// Whether these ranks are all seen in the calls that they are in, some times in a row.
  [[nodiscard]] bool stay_where_they_are(const std::vector<entry_index>& ranks);
  /// The MPI calls that these ranks are in now, comparable with another moment's.
  [[nodiscard]] std::vector<std::string> calls_now(const stack_options& how);
  void doubt_all();

  rank_group& ranks_;
  const group_parts& parts_;
  bool confirms_;
  rank_queue_options how_;
  std::optional<spawned_processes> spawned_;  ///< of a job with a table
  confirmed_waits found_;
};

}  // namespace mpiacq
