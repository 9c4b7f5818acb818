// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <span>
#include <vector>

#include "control/rank_control.hpp"
#include "mpiacq/job/job.hpp"
#include "parts/process_loop.hpp"
#include "proc/local_host.hpp"
#include "views/tracked_graph.hpp"

namespace mpiacq {

/// MPI2DD: the ranks, directories and metadirectories of this node, each with a breakpoint and flags of its own. The
/// job attaches to them when it runs on after an event, and they run on at once, followed; unless the caller wants the
/// ranks left alone (job_options::follow_ranks).
class mpi2dd_rank_control final : public rank_control {
 public:
  /// What the job has that the control of its ranks needs. All of it outlives this object.
  struct surroundings {
    process_loop& loop;
    followed_processes& processes;
    tracer& control;
    trap_control& traps;
    tracked_graph& graph;
    job_event_queue& events;
    const local_host& here;
    const job_options& options;
    process_id starter;
  };
  explicit mpi2dd_rank_control(surroundings job) : job_(job) {}

  void follow_new() override;
  [[nodiscard]] std::vector<result<void>> hold(std::span<const process_id> ranks) override;
  [[nodiscard]] bool holds(process_id rank) const override;
  void run_on_idle() override;
  [[nodiscard]] result<void> run_on() override;
  [[nodiscard]] result<void> let_go(leave how) override;
  void handle(const process_event&) override {}
  [[nodiscard]] result<bool> open_gate(process_id rank) override;
  [[nodiscard]] std::vector<entry_index> gates(const process_table& table, const mpir::job_facts& facts) override;
  [[nodiscard]] result<bool> lend(process_id rank) override;
  [[nodiscard]] bool end_loan(process_id rank) override { return lent_.erase(rank) != 0; }

 private:
  /// Null where the job does not follow this process as a part of it.
  [[nodiscard]] followed_process* member(process_id pid) const;
  /// One outcome for each. A process that is followed or was refused already is not asked for again.
  std::vector<result<void>> follow(std::span<const tracked_graph::member> wanted);
  void begin(const tracked_graph::member& wanted);
  /// Whether its gate is to be opened when it is let go.
  [[nodiscard]] bool needs_gate(process_id rank) const;
  void take_back_flags(followed_process& member, bool opens_gate);
  /// The job does not follow the process: its flags are written from outside.
  [[nodiscard]] result<bool> open_gate_from_outside(process_id rank);

  surroundings job_;
  std::set<process_id> refused_;
  std::set<process_id> lent_;  ///< another tool traces them for now
};

}  // namespace mpiacq
