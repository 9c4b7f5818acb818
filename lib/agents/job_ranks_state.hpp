// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "front_end.hpp"
#include "mpiacq/job_ranks.hpp"
#include "starter_command.hpp"

namespace mpiacq {

/// The ranks of this node, the agents of the others, and which rank is where.
struct job_ranks::state {
  job_ranks_options options;
  std::vector<job_node> nodes;
  std::vector<rank_process> ranks;
  std::uint32_t world_size = 0;           ///< 0: not one number for all
  std::vector<std::size_t> node_of_rank;  ///< for each of them
  std::unique_ptr<node_ranks> local;
  // The commands that started agents end after the front end, which tells those to end.
  std::vector<std::unique_ptr<agents::starter_command>> starters;
  std::vector<std::size_t> node_of_agent;  ///< by its number, less one
  std::unique_ptr<agents::front_end> front;

  void list_nodes(const process_table& table, const rank_selection& selection);
  [[nodiscard]] std::vector<rank_process> ranks_of(std::size_t node) const;
  [[nodiscard]] std::vector<rank_process> ranks_here() const;

  /// Starts agents and waits for them; nodes that are not reached have their reason.
  void reach_others();
  [[nodiscard]] result<void> listen();
  [[nodiscard]] std::optional<std::vector<rank_process>> place(const agents::node_names& names);
  [[nodiscard]] result<void> start_agents(const std::vector<std::size_t>& wanted);
  void wait_for(const std::vector<std::size_t>& wanted);
  void note_missing(const std::vector<std::size_t>& wanted);
  [[nodiscard]] bool has_agent(std::size_t node) const;
  [[nodiscard]] bool all_have_agents(const std::vector<std::string>& hosts) const;

  void ask(agents::question what);
  /// The agents' answer to that; an empty one where there is none. Nodes that have not answered have their reason.
  template <class Part>
  [[nodiscard]] Part collect() {
    auto answer = collect_any();
    auto* part = answer ? std::get_if<Part>(&*answer) : nullptr;
    return part == nullptr ? Part{} : std::move(*part);
  }
  [[nodiscard]] std::optional<agents::answer_body> collect_any();
  [[nodiscard]] error why_not(std::size_t node) const;
  /// Of the rank at this place.
  [[nodiscard]] error why_missing(std::size_t place) const;
  /// Those of a selection of which nothing was told, by nodes.
  [[nodiscard]] std::vector<refused_ranks> missing_of(const rank_selection& which, const rank_set& told) const;
};

}  // namespace mpiacq
