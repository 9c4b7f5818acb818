// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Whether the ranks of a node still run: an agent has nothing to do there when none does.
#pragma once

#include <vector>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/ranks/node_ranks.hpp"

namespace mpiacq::agents {

class rank_watch {
 public:
  /// Watches nobody.
  rank_watch() = default;
  /// One that is not there any more has ended. Where one cannot be watched, nobody is: what cannot be known did not
  /// happen.
  explicit rank_watch(const std::vector<rank_process>& ranks);

  /// All of them have ended; looks twice a second at most.
  [[nodiscard]] bool all_have_ended();

 private:
  std::vector<base::unique_fd> running_;
  bool watches_ = false;
  deadline next_look_{};
};

}  // namespace mpiacq::agents
