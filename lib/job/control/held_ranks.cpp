// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Ranks that the caller holds, looks into, or lends to another tool.
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/job_rank_stopper.hpp"
#include "control/job_state.hpp"
#include "errors/try.hpp"
#include "group_parts.hpp"
#include "node_ranks.hpp"

namespace mpiacq {

std::vector<rank_hold> job::hold_ranks() {
  std::vector<rank_hold> outcomes;
  std::vector<process_id> local;
  std::vector<std::size_t> places;
  const auto& table = state_->table.processes();
  if (!table) return outcomes;
  for (const entry_index entry : table->names().selected(state_->options.ranks, table->size())) {
    rank_hold outcome{entry, table->pid(entry), hold_state::held, std::nullopt};
    if (!state_->table.is_local(entry)) {
      outcome.state = hold_state::failed;
      outcome.why =
          error{error_code::unsupported, fmt::format("rank {} is on another node ({})", table->names().of(entry),
                                                     table->host_name(entry).value_or("without a known name"))};
    } else if (outcome.pid != state_->facts.pid) {
      local.push_back(outcome.pid);
      places.push_back(outcomes.size());
    }
    outcomes.push_back(std::move(outcome));
  }
  auto held = state_->ranks->hold(local);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (held[i]) continue;
    outcomes[places[i]].state = state_of_failure(held[i].error());
    outcomes[places[i]].why = std::move(held[i]).error();
  }
  return outcomes;
}

result<rank_group> job::ranks(const rank_options& options) {
  const job_description now = description();
  if (!now.processes) return fail(error_code::invalid_argument, "the job has no processes yet");
  const rank_selection selection = TRY(options.select.selection());
  auto here = TRY(node_ranks::create(*now.processes, selection, {options.tracing, options.debug_files},
                                     std::make_unique<job_rank_stopper>(*state_, *state_->control, options.tracing)));
  return make_rank_group(now, options, std::move(here));
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
