// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <span>
#include <vector>

#include "control/job_state.hpp"

namespace mpiacq {

/// MPI2DD: the ranks, directories and metadirectories of this node, each with a breakpoint and flags of its own. They
/// are taken hold of when the job is let run after an event, and run on at once, followed; unless the caller wants
/// the ranks left alone (job_options::follow_ranks).
class job::state::mpi2dd_rank_control final : public rank_control {
 public:
  explicit mpi2dd_rank_control(state& job) : job_(job) {}

  void take_in() override;
  [[nodiscard]] std::vector<result<void>> hold(std::span<const process_id> ranks) override;
  [[nodiscard]] bool holds(process_id rank) const override;
  [[nodiscard]] result<void> run_on() override;
  [[nodiscard]] result<void> let_go(leave how) override;
  void handle(const process_event&) override {}
  [[nodiscard]] result<bool> open_gate(process_id rank) override;
  [[nodiscard]] std::vector<std::uint32_t> gates(const process_table& table, const mpir::job_facts& facts) override;
  [[nodiscard]] result<bool> lend(process_id rank) override;
  void take_back(process_id rank) override;

 private:
  /// One outcome for each. A process that is followed or was refused already is not asked for again.
  std::vector<result<void>> follow(std::span<const tracked_graph::member> wanted);
  void begin(followed_process& member);
  /// Whether its gate is to be opened when it is let go.
  [[nodiscard]] bool needs_gate(process_id rank) const;
  void take_back_flags(followed_process& member, bool opens_gate);

  state& job_;
  std::set<process_id> refused_;
  std::set<process_id> lent_;  ///< somebody else's for now
};

}  // namespace mpiacq
