// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <span>
#include <vector>

#include "control/rank_control.hpp"
#include "mpiacq/process/tracer.hpp"

namespace mpiacq {

/// Ranks that the environment shows. They have no gates and no variables for a tool: nothing is written to them.
class environment_rank_control final : public rank_control {
 public:
  /// `at_entry`: ranks that the tracer holds already, at the entry points of their programs.
  environment_rank_control(tracer& control, std::set<process_id> at_entry)
      : control_(control), at_entry_(std::move(at_entry)), before_main_(at_entry_) {}

  [[nodiscard]] std::vector<result<void>> hold(std::span<const process_id> ranks) override;
  [[nodiscard]] bool holds(process_id rank) const override { return held_.contains(rank) || at_entry_.contains(rank); }
  [[nodiscard]] bool is_before_main(process_id rank) const override { return before_main_.contains(rank); }
  [[nodiscard]] std::vector<entry_index> gates(const process_table&, const mpir::job_facts&) override { return {}; }
  [[nodiscard]] result<void> run_on() override { return let_go(leave::running); }
  /// `how` is for the ranks that `hold` was asked for; all others run.
  [[nodiscard]] result<void> let_go(leave how) override;
  /// A rank that stands at its entry is released: another tool can trace it.
  [[nodiscard]] result<bool> lend(process_id rank) override;
  void handle(const process_event& event) override;
  [[nodiscard]] result<bool> open_gate(process_id) override { return true; }

 private:
  tracer& control_;
  std::set<process_id> held_;
  std::set<process_id> at_entry_;     ///< those that wait at their entry points, and that the caller does not hold
  std::set<process_id> before_main_;  ///< those that have not run on since they stood there
};

}  // namespace mpiacq
