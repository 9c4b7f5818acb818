// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Ranks that the caller holds, looks into, or lends to another tool.
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/job_rank_stopper.hpp"
#include "control/job_state.hpp"
#include "errors/try.hpp"
#include "node_ranks_state.hpp"

namespace mpiacq {

std::vector<rank_outcome> job::hold_ranks() {
  std::vector<rank_outcome> outcomes;
  std::vector<process_id> local;
  std::vector<std::size_t> places;
  const auto& table = state_->table.processes();
  if (!table) return outcomes;
  for (const std::uint32_t entry : table->names().selected(state_->options.ranks, table->size())) {
    rank_outcome outcome{entry, table->pid(entry), {}};
    if (!state_->table.is_local(entry)) {
      outcome.held =
          fail(error_code::unsupported, fmt::format("rank {} is on another node ({})", table->names().of(entry),
                                                    table->host_name(entry).value_or("without a known name")));
    } else if (outcome.pid != state_->facts.pid) {
      local.push_back(outcome.pid);
      places.push_back(outcomes.size());
    }
    outcomes.push_back(std::move(outcome));
  }
  auto held = state_->ranks->hold(local);
  for (std::size_t i = 0; i < places.size(); ++i) outcomes[places[i]].held = std::move(held[i]);
  return outcomes;
}

result<std::unique_ptr<node_ranks>> job::look_into(const rank_selection& ranks, const node_ranks_options& options) {
  const auto table = processes();
  if (!table) return fail(error_code::invalid_argument, "the job has no processes yet");
  return node_ranks::create(*table, ranks, options,
                            std::make_unique<job_rank_stopper>(*state_, *state_->control, options.tracing));
}

result<bool> job::lend(process_id rank) {
  TRY(state_->life.is_made_here());
  return state_->life.is_controlled() ? state_->ranks->lend(rank) : true;
}

/// Nothing was seen of the events that the rank has raised meanwhile. Their consequences are in the tables.
void job::take_back(process_id rank) {
  state& s = *state_;
  if (!s.life.is_made_here() || !s.life.is_controlled() || !s.ranks->end_loan(rank)) return;
  const auto changed = s.graph->reread_what_changed(rank, {false, false, false});
  if (!changed) return s.events.notice_failure(fail(changed.error()));
  if (!changed->came.empty() || changed->left != 0) {
    s.take_graph_table();
    s.events.notice(
        error{error_code::busy, fmt::format("while process {} was lent to another tool, its events were not seen: {} "
                                            "processes have come, and {} have gone",
                                            rank.value(), changed->came.size(), changed->left)});
  }
  s.ranks->follow_new();
  s.open_gates(true);
  s.ranks->run_on_idle();
}

}  // namespace mpiacq
