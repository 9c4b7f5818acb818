// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The gates of a job's ranks: which are opened here, which elsewhere, and which ranks do not wait at all.
#include <vector>

#include "control/job_state.hpp"

namespace mpiacq {

void job::state::open_gates(bool held_ones_too) {
  if (!table.processes() || gates.are_opened()) return;
  std::vector<process_id> waiting;
  for (const entry_index entry : ranks->gates(*table.processes(), starter().interface->facts())) {
    const process_id rank = table.processes()->pid(entry);
    if (table.is_local(entry) && (held_ones_too || !ranks->holds(rank))) waiting.push_back(rank);
  }
  gates.open(
      waiting, [this](process_id rank) { return !table.is_other_users(rank); }, *ranks);
  if (gates.take_refusal()) decisions.refuse();
}

void job::state::retry_gates() {
  gates.retry(*ranks);
  if (gates.take_refusal()) decisions.refuse();
}

void job::state::decide_on_gates(followed_process& parent) {
  auto decided = decisions.decide(
      *table.processes(), [this](entry_index entry) { return table.is_local(entry); }, parent.pid, facts.pid, *graph);
  (void)carry_out(parent, parent.interface->being_debugged(parent.program.view(), decided.ranks_wait),
                  write_duration::while_controlled);
  if (decided.notice) events.notice(std::move(*decided.notice));
}

void job::state::clear_refused_gates() {
  const auto parent = decisions.take_refused_parent();
  followed_process* const process = parent ? find(*parent) : nullptr;
  if (process == nullptr || !process->stopped || process->program.symbols() == nullptr) return;
  (void)carry_out(*process, process->interface->being_debugged(process->program.view(), false),
                  write_duration::while_controlled);
}

rank_set job::gates_elsewhere() const {
  rank_set elsewhere;
  const auto& table = state_->table.processes();
  if (!table) return elsewhere;
  for (const entry_index entry : state_->ranks->gates(*table, facts())) {
    if (!state_->table.is_local(entry)) elsewhere.add(entry);
  }
  return elsewhere;
}

void job::nobody_opens_gates_elsewhere() {
  const bool opened_them = state_->decisions.open_no_remote_gates();
  if (opened_them && interface() == interface_kind::mpi2dd) state_->decisions.refuse();
}

std::vector<rank_facts> job::facts_of_ranks() const {
  const auto& table = state_->table.processes();
  if (!table) return {};
  if (interface() != interface_kind::mpi2dd || !state_->graph) {
    const mpir::job_facts& all = facts();
    std::vector<rank_facts> of_ranks(
        table->size(), {all.acquired_pre_main, all.force_to_main, all.partial_attach_ok, all.ignore_queues});
    if (interface() != interface_kind::environment && interface() != interface_kind::pmix) return of_ranks;
    for (const entry_index entry : table->entries()) {
      of_ranks[entry.value()].acquired_pre_main =
          state_->table.is_local(entry) && state_->ranks->is_before_main(table->pid(entry));
    }
    return of_ranks;
  }
  using mpi2dd::mpi_flag;
  tracked_graph& graph = *state_->graph;
  const process_id starter = state_->facts.pid;
  std::vector<rank_facts> all;
  all.reserve(table->size());
  for (const entry_index entry : table->entries()) {
    const auto host = table->host_name(entry).value_or("");
    const process_id rank = table->pid(entry);
    const auto flags = flags_about(graph, starter, host, rank, state_->table.is_local(entry));
    // The starter's PARTIAL_ATTACH_OK is about its own ranks, and not about the ranks that these spawn.
    const bool goes_on_alone = !waits_at_gate(graph, starter, host, rank);
    all.push_back({flags.has(mpi_flag::acquired_pre_main), flags.has(mpi_flag::force_to_main), goes_on_alone,
                   flags.has(mpi_flag::ignore_queue)});
  }
  return all;
}

}  // namespace mpiacq
