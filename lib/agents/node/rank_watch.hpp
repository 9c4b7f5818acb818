// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Watches whether the ranks of a node still run. An agent ends when none does.
#pragma once

#include <vector>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/ranks/rank_process.hpp"

namespace mpiacq::agents {

class rank_watch {
 public:
  /// Watches no rank.
  rank_watch() = default;
  /// A rank that does not exist any more has ended. If a rank cannot be watched, the ranks never count as ended.
  explicit rank_watch(const std::vector<rank_process>& ranks);

  /// Whether all of them have ended. Checks twice a second at most.
  [[nodiscard]] bool all_have_ended();

 private:
  std::vector<base::unique_fd> running_;
  bool watches_ = false;
  deadline next_check_{};
};

}  // namespace mpiacq::agents
