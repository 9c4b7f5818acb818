// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "control/rank_control.hpp"
#include "descriptors/unique_fd.hpp"
#include "mpiacq/job/job.hpp"
#include "parts/awaited_ranks.hpp"
#include "parts/daemon_watch.hpp"
#include "parts/gate_decisions.hpp"
#include "parts/job_event_queue.hpp"
#include "parts/job_lifetime.hpp"
#include "parts/job_timers.hpp"
#include "parts/local_gates.hpp"
#include "parts/pmix_launch.hpp"
#include "parts/pmix_watch.hpp"
#include "parts/process_loop.hpp"
#include "parts/process_patches.hpp"
#include "parts/reported_table.hpp"
#include "parts/started_elsewhere.hpp"
#include "parts/starter_search.hpp"
#include "parts/trap_control.hpp"
#include "starter/followed_process.hpp"
#include "views/environment_description.hpp"
#include "views/tracked_graph.hpp"

namespace mpiacq {

/// A job in motion. An event comes in (from the tracer, from a timer, from the caller), one part handles it, and what
/// the interface of a process asks for is carried out. The parts know nothing of each other but the queue of events and
/// the timers, in which they leave what they have to say.
struct job::state final : process_loop {
  state(std::unique_ptr<tracer> made, job_options wanted, starter_facts known);

  job_options options;
  starter_facts facts;
  /// Of a PMIx job, whose starter is not traced. Its helper process ends while the tracing process does, which is
  /// destroyed first.
  std::unique_ptr<pmix_watch> pmix;
  std::unique_ptr<tracer> control;
  tracer_traps traps;
  job_event_queue events;
  job_timers timers;
  job_lifetime life;
  starter_search search;
  followed_processes processes;
  process_patches patches;
  reported_table table;
  local_gates gates;
  gate_decisions decisions;
  daemon_watch daemons;
  std::unique_ptr<tracked_graph> graph;  ///< MPI2DD: from the first look at the job on
  std::unique_ptr<rank_control> ranks;
  std::optional<pmix_launch> asking;                ///< launched: the starter is asked for the table of its ranks
  base::unique_fd any;                              ///< launched: an epoll descriptor of the tracer and of `pmix`
  std::optional<awaited_ranks> awaited;             ///< launched, as long as the starter may have no interface
  started_elsewhere elsewhere;                      ///< what the launcher starts on other nodes
  std::optional<job_description> partial;           ///< what `awaited` has seen of the job so far
  launcher_kind launcher = launcher_kind::unknown;  ///< of a job that the environment shows

  [[nodiscard]] followed_process& starter() { return processes.at(search.starter()); }
  [[nodiscard]] const followed_process& starter() const { return processes.at(search.starter()); }
  followed_process& follow(process_id pid);

  // What the tracer and the timers report (event_loop.cpp).
  struct event_handler;
  void handle(const process_event& event);
  void handle_deferred();
  void handle(job_timer due);
  /// False where none is due.
  [[nodiscard]] bool handle_due_timers();
  /// Looks at the table of an MPIR starter that may fill it without a call of MPIR_Breakpoint.
  void look_at_table();

  // A job whose starter is asked and not traced (pmix_control.cpp).
  void begin_pmix(std::unique_ptr<pmix_watch> watch);
  /// The tool's daemons, where the starter has no MPIR: the PMIx server can start them.
  void ask_for_daemons();
  void look_at_pmix(bool asks);
  [[nodiscard]] int descriptor() const;
  /// Waits for the tracer, for the server and for the starter's end.
  [[nodiscard]] result<std::optional<process_event>> wait_beside_pmix(deadline until);

  // What an interface asks for (steps.cpp).
  struct step_runner;
  [[nodiscard]] bool carry_out(followed_process& process, process_interface::steps steps,
                               write_duration duration) override;
  [[nodiscard]] bool report(followed_process& process, const mpir::report_processes& report);
  [[nodiscard]] bool report(followed_process& process, mpi2dd::report_event& event);
  [[nodiscard]] bool look_for_running_job(followed_process& process);
  [[nodiscard]] tracked_graph& graph_from(const followed_process& process);
  void take_table(std::shared_ptr<const process_table> newer);
  void take_graph_table();

  // A starter without an interface, whose ranks the environment shows (environment_ranks.cpp).
  /// A process below the starter is at its entry point. True if it is a rank that waits there for the others.
  [[nodiscard]] bool waits_for_other_ranks(const followed_process& process);
  void look_for_ranks();
  [[nodiscard]] bool is_on_its_way(const starting_job& seen);
  void release_waiting_ranks(std::span<const process_id> which);
  /// A process that may be a starter with an interface is alive.
  [[nodiscard]] bool has_interface_somewhere() const;
  /// A process below the starter, which is no rank, may be the launcher's ssh.
  void note_ssh(const process_facts& process);
  /// The ranks are on other nodes: no rank has come to this node.
  void note_ranks_elsewhere();
  /// The launched starter has ended before its ranks were reported.
  void note_unreported_ranks();
  /// From now on this is the job. Nothing of it is traced any more, but for ranks that wait at their entry points.
  void take_environment_job(job_description found);
  /// Lets everything go but such ranks, which `ranks` has from then on.
  void stop_tracing(const job_description& found);
  void report_job(job_description found);
  /// The starter, which is not traced any more, is asked for the table.
  void ask_starter_by_pmix();
  /// The source that the caller has chosen gives no table.
  void give_up_source(error why);
  /// The process that the job is ended by is traced, so that its end is seen.
  [[nodiscard]] result<void> trace_starter();

  // Which process is the starter, and how it and the ranks stop and run (process_stops.cpp).
  /// It is the starter, as far as is known.
  void take_as_starter(followed_process& process);
  /// It has spawned the job: the other processes are let go.
  void has_spawned(followed_process& process);
  void let_go_of_others();
  /// Takes back what its interface has written.
  void undo_in(followed_process& process);
  [[nodiscard]] followed_process* find(process_id pid) override;
  [[nodiscard]] bool traces(process_id pid) const override;
  void run_on(followed_process& process) override;
  void stop_all(std::span<const process_id> which) override;
  [[nodiscard]] bool defer(const process_event& event);
  [[nodiscard]] result<void> stop_starter();

  // How a job is let go and ends (job_end.cpp).
  /// Undoes everything in the starter and its ranks, and leaves the starter stopped.
  [[nodiscard]] result<void> withdraw(leave how);
  void kill_starter();
  void finish();

  // Ranks and their gates (job_gates.cpp).
  /// After the table was reported: opens the gates of its ranks, but for those that stay held.
  void open_gates(bool held_ones_too);
  void retry_gates();
  /// MPI2DD: START or SPAWN was raised.
  void decide_on_gates(followed_process& parent);
  /// A gate cannot be opened: the process that starts the ranks tells them not to wait.
  void clear_refused_gates();
  [[nodiscard]] rank_state state_of_rank(entry_index entry) const;
};

}  // namespace mpiacq
