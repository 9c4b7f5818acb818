// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What is done to the ranks of this node: held, let go, released from their gates.
#include <algorithm>

#include <fmt/format.h>

#include "job_state.hpp"
#include "mpiacq/mpir_ranks.hpp"

namespace mpiacq {

namespace {

using namespace std::chrono_literals;

/// A rank that has just been started has its libraries within this time, or has none to wait for.
constexpr auto gate_interval = 20ms;
constexpr auto gate_patience = 5s;

}  // namespace

std::vector<rank_outcome> job::hold_ranks() {
  std::vector<rank_outcome> outcomes;
  const auto table = processes();
  if (!table) return outcomes;
  for (const std::uint32_t rank : state_->options.ranks.among(static_cast<std::uint32_t>(table->size()))) {
    const process_id pid = table->pid(rank);
    rank_outcome outcome{rank, pid, {}};
    if (!state_->is_local(*table, rank)) {
      outcome.held = fail(error_code::unsupported, fmt::format("rank {} is on another node ({})", rank,
                                                               table->host_name(rank).value_or("of no known name")));
    } else if (pid != state_->facts.pid) {
      outcome.held = state_->ranks->hold(pid);
    }
    outcomes.push_back(std::move(outcome));
  }
  return outcomes;
}

result<void> job::state::let_go_of_ranks(leave how) {
  result<void> outcome;
  const auto table = starter->acquisition.table();
  for (std::size_t i = 0; table && i < table->size(); ++i) {
    auto left = ranks->let_go(table->pid(i), how);
    if (!left && left.error().code != error_code::process_gone) outcome = std::move(left);
  }
  return outcome;
}

void job::state::open_gates(bool held_ones_too) {
  const auto table = starter->acquisition.table();
  if (!table || gates_opened) return;
  const auto plan = mpir::plan_release(starter->acquisition.facts(), table->size(), {});
  if (!plan || plan->starter_alone) return;
  gates_opened = true;
  closed_gates.clear();
  for (const std::uint32_t rank : plan->gates) {
    const process_id pid = table->pid(rank);
    if (!is_local(*table, rank) || (ranks->holds(pid) && !held_ones_too)) continue;
    closed_gates.push_back(pid);
  }
  gates_until = clock::now() + gate_patience;
  try_gates();
}

void job::state::try_gates() {
  gates_at = no_deadline;
  std::erase_if(closed_gates, [&](process_id pid) {
    const auto opened = ranks->open_gate(pid);
    // One that has gone waits for nothing.
    if (!opened)
      notice_failure(fail(opened.error().code == error_code::not_found
                              ? error{error_code::process_gone, opened.error().message}
                              : opened.error()));
    return !opened || *opened;
  });
  if (!closed_gates.empty() && clock::now() < gates_until) gates_at = clock::now() + gate_interval;
}

}  // namespace mpiacq
