// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <unistd.h>

#include "mpiacq/check/check.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/process_user.hpp"
#include "mpiacq/process/tracer.hpp"
#include "watch/look_at_ranks.hpp"

namespace mpiacq::check {

/// A job that is watched: what the tracer reports is written down, and the interface's own answers to it are done, so
/// that the starter sees the tool that the document describes.
struct run::state {
  state(std::unique_ptr<tracer> t, process_id p, run_options o);
  ~state();

  run_options options;
  std::unique_ptr<tracer> control;
  const pid_t made_in = ::getpid();  ///< a forked child has a copy, whose end changes nothing
  process_id pid;
  int pidfd = -1;
  process_memory memory;
  page_cache cache;
  std::unique_ptr<process_symbols> symbols;
  std::optional<target_address> link_map_watch;
  mpir::acquisition acquisition;

  observations seen;
  rank_set ranks;
  std::deque<job_event> coming;
  std::optional<target_address> mpi2dd_breakpoint;  ///< where it is planted
  deadline mpi2dd_look_at = no_deadline;            ///< when the job may have grown
  deadline mpi2dd_look_until = no_deadline;
  bool stopped = false;
  bool detached = false;
  bool ended = false;

  deadline look_at = no_deadline;     ///< when to poll the things that raise no event
  deadline let_go_at = no_deadline;   ///< attached: when enough has been seen
  deadline spawned_at = no_deadline;  ///< the starter went on from the last spawn event
  bool ranks_watched = false;
  bool hosts_asked = false;
  int looks_at_unannounced_spawn = 0;

  void handle(const process_event& event);
  void at_entry();
  void at_breakpoint(target_address where);
  void at_mpir_breakpoint();
  void take_end(const process_ended& end);
  void carry_out(result<std::vector<mpir::action>> actions);
  void look_at_symbols();
  void watch_processes();
  void keep_link_map_watch(bool wanted);
  void run_on();

  void watch_mpi2dd();
  void at_mpi2dd_breakpoint();
  void look_at_mpi2dd_again();
  void look_at_mpi2dd_attached();
  void on_time();
  void look_at_all_else();
  void look_for_unannounced_spawn();
  void look_at_fifo_name();
  void look_at_fifo_again();
  void ask_for_hosts();
  void look_for_daemons();
  void look_at_attached();
  void look_for_late_table();
  void take_table_at_attach();
  [[nodiscard]] result<void> let_go();

  /// Nothing is done to the job by a copy in a forked child. Error: invalid_argument.
  [[nodiscard]] result<void> is_made_here() const;
  [[nodiscard]] result<void> hold();
  [[nodiscard]] target view() { return {memory, &memory, symbols->abi(), *symbols, user_of(pid)}; }
  void notice(error what) { coming.emplace_back(job_notice{std::move(what)}); }
  void notice_failure(const result<void>& done) {
    // A starter that died during the work reports its end by an event.
    if (!done && done.error().code != error_code::process_gone) notice(done.error());
  }
};

}  // namespace mpiacq::check
