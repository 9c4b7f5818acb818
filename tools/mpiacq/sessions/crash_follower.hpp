// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/ranks/rank_end.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "options/watch_options.hpp"

namespace mpiacq::tool {

/// Follows the ranks of a job to their ends, and notices when one of them fails.
class crash_follower {
 public:
  /// Begins to follow. Prints which ranks cannot be followed, and why. `names` must outlive this object.
  crash_follower(std::shared_ptr<rank_group> ranks, const rank_names& names, const follow_options& how);
  /// All ranks run on, and nothing is followed any more.
  ~crash_follower();
  crash_follower(const crash_follower&) = delete;
  crash_follower& operator=(const crash_follower&) = delete;

  /// Readable when `serve` has something to do; -1: no rank of this node is followed.
  [[nodiscard]] int descriptor() const;
  /// When `serve` is to be called in any case: ranks of other nodes have no descriptor.
  [[nodiscard]] deadline wake_at() const { return ask_at_; }
  /// Ranks that have failed. All ranks of the job are held then, those that have failed at their ends.
  [[nodiscard]] std::optional<group_ends> serve();
  /// Whether all followed ranks have ended.
  [[nodiscard]] bool has_nobody_left() const { return has_followed_ && followed_.empty(); }
  /// As `serve`, when the starter has ended: ranks may be about to end, too. It waits for them for a moment.
  [[nodiscard]] std::optional<group_ends> serve_last();

 private:
  void complain_of(const rank_set& which, const std::string& why) const;
  void note_lost(const std::vector<refused_ranks>& refused);

  std::shared_ptr<rank_group> ranks_;
  const rank_names& names_;
  rank_set followed_;
  rank_set missing_;  ///< followed ranks for which the last answer had only an error
  bool has_followed_ = false;
  bool has_other_nodes_;
  deadline ask_at_ = no_deadline;
};

}  // namespace mpiacq::tool
