// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <unistd.h>

#include "mpiacq/ranks/job_ranks.hpp"
#include "remote/node_agents.hpp"

namespace mpiacq {

/// The ranks of this node, the agents of the others, and which rank is where.
struct job_ranks::state {
  state(const job_ranks_options& how, std::unique_ptr<agents::node_agents> far)
      : options(how), agents(std::move(far)) {}

  const pid_t made_in = ::getpid();  ///< a forked child has a copy, whose end changes nothing
  job_ranks_options options;
  std::vector<job_node> nodes;
  std::vector<rank_process> ranks;
  std::size_t all_hosts = 0;              ///< of the job, also those without a rank that was selected
  std::vector<std::size_t> node_of_rank;  ///< for each of them
  std::unique_ptr<node_ranks> local;
  std::unique_ptr<agents::node_agents> agents;
  std::vector<std::size_t> far_nodes;  ///< which of `nodes` each of the agents' is

  /// `far`: made, and perhaps listening already. `here`: of the ranks that are here; null: to be made.
  [[nodiscard]] static result<std::unique_ptr<job_ranks>> make(const process_table& table,
                                                               const rank_selection& selection,
                                                               const job_ranks_options& options,
                                                               std::unique_ptr<agents::node_agents> far,
                                                               std::unique_ptr<node_ranks> here = nullptr);
  void list_nodes(const process_table& table, const rank_selection& selection);
  /// By their places in `nodes`.
  [[nodiscard]] std::vector<std::vector<rank_process>> ranks_by_nodes() const;
  [[nodiscard]] std::vector<rank_process> ranks_here() const;
  /// In order, as `ranks` are.
  [[nodiscard]] std::vector<rank_process> ranks_among(const rank_set& which) const;
  void reach_others();
  [[nodiscard]] job_stacks take_stacks(const stack_options& asked);
  [[nodiscard]] node_queues read_queues(const rank_queue_options& asked);
  /// What the agents' last answer came to, for each of their nodes.
  void note_reasons();

  /// The agents' answer; an empty one where there is none. Nodes that have not answered have their reason.
  template <class Part>
  [[nodiscard]] Part collect(std::function<void(const agents::heartbeat&)> progress = {}) {
    Part part = agents->collect<Part>(std::move(progress));
    note_reasons();
    return part;
  }
  [[nodiscard]] std::vector<rank_set> local_ranks() const;
  [[nodiscard]] error why_not(std::size_t node) const;
  /// Of the rank at this place.
  [[nodiscard]] error why_missing(std::size_t place) const { return why_not(node_of_rank[place]); }
  /// Those of a selection of which nothing was told, by nodes.
  [[nodiscard]] std::vector<refused_ranks> missing_of(const rank_selection& which, const rank_set& told) const;
};

}  // namespace mpiacq
