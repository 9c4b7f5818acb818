// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "launcher_variables.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/base/time_limit.hpp"

namespace mpiacq {

/// How far a launcher has come with the start of its ranks on this node.
enum class rank_count : unsigned char {
  complete,   ///< all that it starts on this node are there
  uncounted,  ///< its variables do not have the number that it starts on this node, and more may come
  lacking,    ///< fewer than the number in its variables
};

/// The ranks of a launched starter that has no interface: which processes below it are ranks, and when all of them are
/// there. It reads no process and stops none.
///
/// A rank is held at the entry point of its program until the others have come. A launcher may start a rank only when
/// an earlier one has come further, so that no rank is held for longer than `longest_hold` after the latest arrival.
class awaited_ranks {
 public:
  /// `environment`: of the starter. Variables of a rank in it do not concern the ranks that the starter starts.
  explicit awaited_ranks(std::string_view environment);

  static constexpr std::chrono::seconds longest_hold{1};
  /// If no variable has the number of ranks, all ranks are there when none has come for this time.
  static constexpr std::chrono::seconds settle_time{1};
  /// Ranks that a launcher announces and that have not come for this time do not come.
  static constexpr std::chrono::seconds longest_wait{10};

  /// A process below the starter has reached the entry point of its program. True if it is a rank, the first time.
  /// `is_counted`: the launcher's variables have the number of ranks that it starts on this node.
  struct arrival {
    bool is_rank = false;
    bool is_counted = false;
  };
  [[nodiscard]] arrival at_entry(process_id process, std::string_view environment, deadline now);
  [[nodiscard]] bool is_rank(process_id process) const { return ranks_.contains(process); }

  /// How many ranks have arrived.
  [[nodiscard]] std::size_t count() const { return ranks_.size(); }

  void hold(process_id process) { held_.insert(process); }
  [[nodiscard]] const std::set<process_id>& held() const { return held_; }
  /// The held ranks, if they were held for long enough. They are held no more.
  [[nodiscard]] std::vector<process_id> take_overdue(deadline now);

  /// So many ranks are there now. True: the job is to be reported as it is.
  [[nodiscard]] bool is_to_be_reported(std::size_t ranks, rank_count count, deadline now);
  /// When to look again. `cost`: of the last look, which reads all processes of the node.
  [[nodiscard]] clock::duration next_look(clock::duration cost) const;

 private:
  std::vector<launcher_statement> inherited_;
  std::set<process_id> ranks_;
  std::set<process_id> held_;
  deadline latest_ = no_deadline;   ///< when the latest rank arrived
  std::size_t seen_ = 0;            ///< ranks at the last look
  deadline changed_ = no_deadline;  ///< when that number changed
};

}  // namespace mpiacq
