// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "agents_choice.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "commands.hpp"
#include "progress_line.hpp"

namespace mpiacq::tool {

std::optional<agents_options> agents_for(const job_view& job, const rank_selection& ranks, agent_start wanted,
                                         int stop) {
  if (wanted == agent_start::none) return std::nullopt;
  const auto selected = job.processes->names().selected(ranks, job.processes->size());
  const bool some_are_elsewhere =
      std::any_of(selected.begin(), selected.end(), [&](std::uint32_t rank) { return !job.is_local[rank]; });
  const std::string job_id = job.facts.job_id.value_or("");
  if (wanted == agent_start::automatic && (!some_are_elsewhere || job_id.empty())) return std::nullopt;
  agents_options options;
  options.start = wanted;
  // Who asks for agents gets them: also for nodes that are names for this machine.
  options.everywhere = wanted != agent_start::automatic;
  options.job_id = job_id;
  options.step_id = job.facts.step_id.value_or("");
  options.stop = stop;
  options.progress = [line = std::make_shared<progress_line>(true)](const agents_progress& seen) {
    line->show(fmt::format("agents of {} of {} nodes have come", seen.arrived, seen.wanted));
  };
  return options;
}

void complain_of_nodes(const job_ranks& ranks) {
  for (const job_node& node : ranks.nodes()) {
    if (node.why) complain(fmt::format("{}: {}", node.host, node.why->message));
  }
}

}  // namespace mpiacq::tool
