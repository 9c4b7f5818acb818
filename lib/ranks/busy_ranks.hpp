// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "limit_descriptor.hpp"
#include "mpiacq/ranks/rank_selection.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

/// The tries of ranks that another tool holds (`busy`). A short look of a tool ends within these tries, a debugging
/// session does not.
class busy_tries {
 public:
  /// Whether there are busy ranks to try once more. Waits before it says so; false if `stop` becomes readable.
  [[nodiscard]] bool again(const rank_set& busy, int stop) {
    return !busy.empty() && ++tries_ < most && !(stopped_ = is_stopped_within(pause, stop));
  }
  /// `stop` has ended the last wait.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  static constexpr int most = 10;
  static constexpr std::chrono::milliseconds pause{20};
  int tries_ = 0;
  bool stopped_ = false;
};

/// A selection of exactly these ranks; all ranks if there are none.
[[nodiscard]] inline rank_selection selection_of(const rank_set& ranks) {
  return rank_selection::parse(ranks.text()).value_or(rank_selection{});
}

}  // namespace mpiacq
