// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "descriptor.hpp"
#include "held_ranks.hpp"
#include "mpiacq/job.hpp"
#include "traced_program.hpp"

namespace mpiacq {

/// A job in motion: what the tracer reports is told to the interface's state machine, and what that answers is done.
struct job::state {
  job_options options;
  std::unique_ptr<tracer> control;
  std::optional<traced_program> program;  ///< from the launch on
  descriptor starter_descriptor;          ///< a pidfd: signals go to our starter or to nobody
  mpir::acquisition acquisition;
  std::optional<held_ranks> ranks;  ///< as `program`

  starter_facts facts;
  std::deque<job_event> coming;
  bool stopped = false;   ///< all threads of the starter are held by the tracer
  bool detached = false;  ///< it runs without us; only its end is still to come
  bool ended = false;
  bool attaching = false;  ///< attached to, and the table has not been reported yet

  std::vector<bool> host_is_local;       ///< by string number of the table
  deadline kill_at = no_deadline;        ///< `end`: when SIGTERM has had its time
  deadline look_at = no_deadline;        ///< when the table is to be looked at again
  deadline gates_at = no_deadline;       ///< when the gates are to be tried again
  deadline gates_until = no_deadline;    ///< and until when, at most
  deadline daemons_at = no_deadline;     ///< when to look for the daemons
  std::set<process_id> children_before;  ///< of the starter, when it was asked for the daemons
  bool daemons_reported = false;
  bool gates_opened = false;             ///< for the table that was reported last
  std::vector<process_id> closed_gates;  ///< ranks that were not loaded far enough
  std::vector<descriptor> doomed_ranks;  ///< `end`: pidfds of the local ranks

  void handle(const process_event& event);
  void at_entry();
  void at_breakpoint(target_address where);
  /// Does what the state machine asks for. True where the starter has to stay stopped for the caller.
  [[nodiscard]] bool carry_out(result<std::vector<mpir::action>> actions);
  [[nodiscard]] bool carry_out_one(mpir::action& action);
  void keep_link_map_watch(bool wanted);
  /// Takes up what has become due by itself.
  void on_time();
  void look_again();
  void expect_daemons();
  void look_for_daemons();
  void report_daemons();
  void run_on();
  void notice(error what) { coming.emplace_back(job_notice{std::move(what)}); }
  void notice_failure(const result<void>& done) {
    // A starter that died under our hands says so itself, by its end.
    if (!done && done.error().code != error_code::process_gone) notice(done.error());
  }

  [[nodiscard]] result<void> hold();
  /// After the table was reported: ranks that wait at a gate go on, but for those that stay held.
  void open_gates(bool held_ones_too);
  void try_gates();
  [[nodiscard]] result<void> let_go_of_ranks(leave how);
  void force_end();
  [[nodiscard]] bool is_local(const process_table& table, std::size_t entry) const;
  [[nodiscard]] rank_state state_of_rank(const process_table& table, std::size_t entry) const;
};

}  // namespace mpiacq
