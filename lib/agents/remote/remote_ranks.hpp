// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <unistd.h>

#include "mpiacq/ranks/rank_options.hpp"
#include "rank_backend.hpp"
#include "remote/node_agents.hpp"

namespace mpiacq::agents {

/// A node of other ranks than this node's, and the ranks that are wanted on it.
struct remote_node {
  job_node node;  ///< `why` is set where nothing can be started there
  std::vector<rank_process> ranks;
};

/// Ranks behind agents as a backend. The agents end with this.
class remote_ranks final : public rank_backend {
 public:
  /// Starts agents on the nodes that have no reason against it, and waits for them. `all_hosts`: of the job, also those
  /// that need no agent.
  remote_ranks(const rank_options& options, std::unique_ptr<node_agents> agents, std::vector<remote_node> nodes,
               std::size_t all_hosts);
  /// In a forked child nothing is ended: the agents are the parent's, and libzmq's threads are not there.
  ~remote_ranks() override;
  remote_ranks(const remote_ranks&) = delete;
  remote_ranks& operator=(const remote_ranks&) = delete;

  [[nodiscard]] std::span<const rank_process> ranks() const override { return ranks_; }
  [[nodiscard]] std::vector<job_node> nodes() const override { return nodes_; }
  void ask(const rank_question& what) override;
  [[nodiscard]] rank_answer collect(const answer_terms& terms) override;
  [[nodiscard]] error why_missing(std::size_t place) const override;

 private:
  /// Why no agent can do what is asked; empty: they can.
  [[nodiscard]] std::optional<error> why_not_sent(const rank_question& what) const;
  /// What the agents' last answer came to, for each of their nodes.
  void note_reasons();

  const pid_t made_in_ = ::getpid();
  bool is_default_limit_;  ///< of how long this program may hold ranks in silence
  std::unique_ptr<node_agents> agents_;
  std::vector<job_node> nodes_;
  std::vector<std::size_t> asked_nodes_;  ///< which of `nodes_` each node of `agents_` is
  std::vector<rank_process> ranks_;
  std::vector<std::size_t> node_of_rank_;
  rank_question asked_;
  std::optional<error> not_sent_;
};

}  // namespace mpiacq::agents
