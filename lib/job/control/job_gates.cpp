// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What is done to the ranks of this node: held, let go, released from their gates.
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "control/job_state.hpp"
#include "proc/process_state.hpp"

namespace mpiacq {

namespace {

using namespace std::chrono_literals;

/// A rank may not have exec'ed its program yet, or that may load its MPI library late: one without a gate is looked at
/// again after twice the time, so that many of them cost little and none waits for much longer than it took to load.
constexpr auto first_gate_interval = 20ms;
constexpr auto last_gate_interval = 60s;

}  // namespace

std::vector<rank_outcome> job::hold_ranks() {
  std::vector<rank_outcome> outcomes;
  std::vector<process_id> local;
  std::vector<std::size_t> places;
  const auto table = processes();
  if (!table) return outcomes;
  for (const std::uint32_t rank : table->names().selected(state_->options.ranks, table->size())) {
    const process_id pid = table->pid(rank);
    rank_outcome outcome{rank, pid, {}};
    if (!state_->is_local(*table, rank)) {
      outcome.held =
          fail(error_code::unsupported, fmt::format("rank {} is on another node ({})", table->names().of(rank),
                                                    table->host_name(rank).value_or("of no known name")));
    } else if (pid != state_->facts.pid) {  // the keeper of the ranks looks at their users
      local.push_back(pid);
      places.push_back(outcomes.size());
    }
    outcomes.push_back(std::move(outcome));
  }
  auto held = state_->ranks->hold(local);
  for (std::size_t i = 0; i < places.size(); ++i) outcomes[places[i]].held = std::move(held[i]);
  return outcomes;
}

rank_set job::gates_elsewhere() const {
  rank_set far;
  const auto table = processes();
  if (!table || !state_->starter->interface) return far;
  for (const std::uint32_t entry : state_->ranks->gates(*table, facts())) {
    if (!state_->is_local(*table, entry)) far.add(entry);
  }
  return far;
}

void job::state::open_gates(bool held_ones_too) {
  if (!processes || gates_opened) return;
  gates_opened = true;
  closed_gates.clear();
  std::set<process_id> known;  // a table may name one process many times
  for (const std::uint32_t rank : ranks->gates(*processes, starter->interface->facts())) {
    const process_id pid = processes->pid(rank);
    if (!is_local(*processes, rank) || (ranks->holds(pid) && !held_ones_too)) continue;
    if (!known.insert(pid).second) continue;
    closed_gate gate{pid, open_process(pid), {}};
    // After its pidfd was opened: from then on it is this process or none.
    if (!is_other_users(pid)) closed_gates.push_back(std::move(gate));
  }
  gate_interval = first_gate_interval;
  try_gates();
}

void job::state::try_gates() {
  gates_at = no_deadline;
  std::erase_if(closed_gates, [&](closed_gate& gate) { return open_one(gate); });
  if (closed_gates.empty()) return;
  if (gate_interval <= last_gate_interval) {
    gates_at = clock::now() + std::exchange(gate_interval, gate_interval * 2);
    return;
  }
  for (const closed_gate& gate : std::exchange(closed_gates, {})) notice_failure(gate.last);
}

bool job::state::open_one(closed_gate& gate) {
  // One that has gone waits for nothing, and its number may have gone to another.
  if (!is_alive(gate.process)) return true;
  const auto opened = ranks->open_gate(gate.pid);
  if (opened) {
    gate.last = {};
    return *opened;
  }
  gate.last = fail(opened.error());
  if (opened.error().code != error_code::permission) return false;
  notice_failure(gate.last);
  gate_refused = true;
  return true;
}

}  // namespace mpiacq
