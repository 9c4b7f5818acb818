// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "control/mpir_rank_control.hpp"

#include <utility>

#include "errors/try.hpp"
#include "rank_gate.hpp"

namespace mpiacq {

std::vector<result<void>> mpir_rank_control::hold(std::span<const process_id> ranks) {
  return attach_to(ranks, control_, [this](process_id rank) {
    held_.insert(rank);
    return announce_debugger(rank);
  });
}

std::vector<entry_index> mpir_rank_control::gates(const process_table& table, const mpir::job_facts& facts) {
  auto plan = mpir::plan_release(facts, table.size(), {});
  return plan ? std::move(plan->gates) : std::vector<entry_index>{};
}

result<void> mpir_rank_control::announce_debugger(process_id rank) {
  rank_view view(rank, user());
  // A rank whose symbols cannot be read is held all the same.
  if (!look(view, rank, search_)) return {};
  const auto actions = mpir::rank_attached(view.symbols->abi(), view.known);
  for (const mpir::action& action : actions) {
    const auto* write = std::get_if<mpir::write_memory>(&action);
    if (write == nullptr) continue;
    const std::vector<std::byte> zero(write->bytes.size());
    TRY(control_.restore_on_exit(rank, write->address, zero));
  }
  return write_all(view, actions);
}

result<void> mpir_rank_control::let_go(leave how) {
  result<void> outcome;
  for (const process_id rank : std::exchange(held_, {})) {
    auto left = let_go(rank, how);
    if (!left && left.error().code != error_code::process_gone) outcome = std::move(left);
  }
  return outcome;
}

result<void> mpir_rank_control::let_go(process_id rank, leave how) {
  rank_view view(rank, user());
  result<void> told;
  if (look(view, rank, search_)) told = write_all(view, mpir::rank_before_detach(view.symbols->abi(), view.known));
  auto left = control_.detach(rank, how);
  return left ? told : left;
}

void mpir_rank_control::handle(const process_event& event) {
  if (is_gone(event)) held_.erase(event.process);
}

result<bool> mpir_rank_control::open_gate(process_id rank) {
  return open_rank_gate(rank, user(), interface_kind::mpir, search_);
}

}  // namespace mpiacq
