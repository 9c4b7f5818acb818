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

/// Another node, and the selected ranks on it.
struct remote_node {
  job_node node;  ///< `why` is set if no agent can be started there
  std::vector<rank_process> ranks;
};

/// The ranks behind agents as a backend. The destructor ends the agents.
class remote_ranks final : public rank_backend {
 public:
  /// Starts agents on the nodes without a `why`, and waits for them. `all_hosts`: the number of the job's hosts,
  /// including those that need no agent.
  remote_ranks(const rank_options& options, std::unique_ptr<node_agents> agents, std::vector<remote_node> nodes,
               std::size_t all_hosts);
  /// Does nothing in a forked child: the agents belong to the parent, and libzmq's threads do not exist.
  ~remote_ranks() override;
  remote_ranks(const remote_ranks&) = delete;
  remote_ranks& operator=(const remote_ranks&) = delete;

  [[nodiscard]] std::span<const rank_process> ranks() const override { return ranks_; }
  [[nodiscard]] std::vector<job_node> nodes() const override { return nodes_; }
  void ask(const rank_question& what) override;
  [[nodiscard]] rank_answer collect(const answer_terms& terms) override;
  [[nodiscard]] error why_missing(std::size_t place) const override;

 private:
  /// The reason why no agent can answer the question; empty if agents can.
  [[nodiscard]] std::optional<error> why_not_sent(const rank_question& what) const;
  void name_hosts(rank_cores& cores) const;
  /// Copies the reasons after the last answer to each node.
  void note_reasons();

  const pid_t made_in_ = ::getpid();
  bool is_default_limit_;  ///< whether the hold limit is the default one
  std::unique_ptr<node_agents> agents_;
  std::vector<job_node> nodes_;
  std::vector<std::size_t> asked_nodes_;  ///< for each node of `agents_` its index in `nodes_`
  std::vector<rank_process> ranks_;
  std::vector<std::size_t> node_of_rank_;
  rank_question asked_;
  std::optional<error> not_sent_;
};

}  // namespace mpiacq::agents
