// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <span>
#include <vector>

#include "control/rank_control.hpp"
#include "control/traced_program.hpp"
#include "mpiacq/mpir/mpir_ranks.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

/// MPIR: the ranks of this node that are held beside the starter, and the gates of those that are not.
class mpir_rank_control final : public rank_control {
 public:
  mpir_rank_control(tracer& control, debug_file_search search) : control_(control), search_(std::move(search)) {}

  /// MPIR_being_debugged = 1 where a rank has it (MPIR 1.1, 9.3).
  [[nodiscard]] std::vector<result<void>> hold(std::span<const process_id> ranks) override;
  /// All of them, or none (MPIR 1.1, 9.13).
  [[nodiscard]] std::vector<entry_index> gates(const process_table& table, const mpir::job_facts& facts) override;
  [[nodiscard]] bool holds(process_id rank) const override { return held_.contains(rank); }
  /// Nothing that a running rank does is of interest: it is let go.
  [[nodiscard]] result<void> run_on() override { return let_go(leave::running); }
  /// MPIR_being_debugged = 0.
  [[nodiscard]] result<void> let_go(leave how) override;
  void handle(const process_event& event) override;
  /// MPIR_debug_gate = 1 (9.8).
  [[nodiscard]] result<bool> open_gate(process_id rank) override;

 private:
  [[nodiscard]] result<void> announce_debugger(process_id rank);
  [[nodiscard]] result<void> let_go(process_id rank, leave how);
  tracer& control_;
  debug_file_search search_;
  std::set<process_id> held_;
};

}  // namespace mpiacq
