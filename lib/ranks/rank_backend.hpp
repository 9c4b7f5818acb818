// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "rank_questions.hpp"

namespace mpiacq {

class node_ranks;

/// Ranks that are reached in one way: by this program, or through agents. `rank_group` joins several backends.
///
/// A question is asked first and its answer is collected later, so that agents work while this program looks at the
/// ranks of its own node. Thread: one at a time.
class rank_backend {
 public:
  virtual ~rank_backend() = default;
  /// In order of entries.
  [[nodiscard]] virtual std::span<const rank_process> ranks() const = 0;
  /// The nodes of its ranks, with their current state.
  [[nodiscard]] virtual std::vector<job_node> nodes() const = 0;

  virtual void ask(const rank_question& what) = 0;
  /// The answer to the last question. Ranks may be missing in it.
  [[nodiscard]] virtual rank_answer collect(const answer_terms& terms) = 0;
  /// Why the last answer lacks a rank, given as a position in `ranks`.
  [[nodiscard]] virtual error why_missing(std::size_t place) const = 0;

  /// Restarts the time of `tracer_options::hold_limit`.
  virtual void keep_held() {}
  /// The ranks of this node, for a spawn watch; null if the ranks are on other nodes.
  [[nodiscard]] virtual std::shared_ptr<node_ranks> local() const { return nullptr; }
};

}  // namespace mpiacq
