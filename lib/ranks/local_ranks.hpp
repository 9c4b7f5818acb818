// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "node_ranks.hpp"
#include "rank_backend.hpp"

namespace mpiacq {

/// The ranks of this node as a backend. They are stopped by a tracer of their own, or by the job that traces them
/// already (`rank_stopper`). An agent uses this class to answer for its node.
class local_ranks final : public rank_backend {
 public:
  /// `nodes`: this node by the names that the process table has for it.
  local_ranks(std::shared_ptr<node_ranks> ranks, std::vector<job_node> nodes)
      : node_(std::move(ranks)), nodes_(std::move(nodes)) {}

  [[nodiscard]] std::span<const rank_process> ranks() const override { return node_->ranks(); }
  [[nodiscard]] std::vector<job_node> nodes() const override { return nodes_; }
  void ask(const rank_question& what) override { asked_ = what; }
  [[nodiscard]] rank_answer collect(const answer_terms& terms) override;
  [[nodiscard]] error why_missing(std::size_t place) const override;
  void keep_held() override { node_->keep_held(); }
  [[nodiscard]] std::shared_ptr<node_ranks> local() const override { return node_; }

 private:
  std::shared_ptr<node_ranks> node_;
  std::vector<job_node> nodes_;
  rank_question asked_;
};

}  // namespace mpiacq
