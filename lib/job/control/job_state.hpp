// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "control/rank_control.hpp"
#include "descriptors/unique_fd.hpp"
#include "mpiacq/job/job.hpp"
#include "proc/local_host.hpp"
#include "starter/followed_process.hpp"
#include "views/tracked_graph.hpp"

namespace mpiacq {

/// Entries of a process table that are on other nodes, and the names of those.
struct far_ranks {
  rank_set entries;
  std::set<std::string> hosts;
};

/// A rank that is to go on, and in which no gate has been seen yet.
struct closed_gate {
  process_id pid;
  base::unique_fd process;
  result<void> last;  ///< what the last look at it came to
};

/// A job in motion: what the tracer reports is told to the interface's state machine, and what that answers is done.
struct job::state {
  class mpi2dd_rank_control;
  class job_rank_stopper;

  const pid_t made_in = ::getpid();  ///< a forked child has a copy, whose end changes nothing
  job_options options;
  std::unique_ptr<tracer> control;
  std::map<process_id, followed_process> followed_processes;
  /// The one that has spawned the job; until one has, the best guess. Never null from the launch on.
  followed_process* starter = nullptr;
  bool decided = false;  ///< it has spawned the job
  process_id root;       ///< what was launched or attached to
  std::optional<exit_status> root_ended;
  deadline finish_at = no_deadline;    ///< when all have ended, unless a birth is told of before
  base::unique_fd starter_descriptor;  ///< pidfds: signals go to our processes or to nobody
  base::unique_fd root_descriptor;
  std::unique_ptr<rank_control> ranks;  ///< from the launch on

  std::shared_ptr<const process_table> processes;  ///< as it was last reported; null before
  std::optional<tracked_graph> graph;              ///< MPI2DD: from the first look at the job on
  std::map<process_id, followed_process> members;  ///< MPI2DD: ranks and directories that are followed

  starter_facts facts;
  std::deque<job_event> coming;
  std::deque<process_event> postponed;  ///< they came while a caller had another to answer
  bool for_caller = false;              ///< the starter is stopped, and stays so until the caller says otherwise
  bool holding = false;                 ///< `hold` is at work: whatever stops the starter leaves it stopped
  bool withdrawing = false;             ///< what is written now is what stays
  bool detached = false;                ///< nothing of ours is in it any more; only its end is still to come
  bool ended = false;
  bool attaching = false;  ///< attached to, and the table has not been reported yet

  std::optional<local_host> here;        ///< asked for while a starter runs, so that none waits for the answer
  std::vector<bool> host_is_local;       ///< by string number of the table
  std::set<std::string> other_users;     ///< what was said of ranks that belong to other users
  deadline kill_at = no_deadline;        ///< `end`: when SIGTERM has had its time
  deadline look_at = no_deadline;        ///< when the table is to be looked at again
  deadline gates_at = no_deadline;       ///< when the gates are to be tried again
  clock::duration gate_interval{};       ///< until the next try
  deadline daemons_at = no_deadline;     ///< when to look for the daemons
  std::set<process_id> children_before;  ///< of the starter, when it was asked for the daemons
  std::uint64_t faults_before = 0;       ///< of its ended children, at that moment
  bool daemons_reported = false;
  bool gates_opened = false;  ///< for the table that was reported last
  std::vector<closed_gate> closed_gates;
  bool gate_refused = false;                  ///< one of them cannot be opened
  std::set<std::uint32_t> settled_worlds;     ///< MPI2DD: it was decided whether their ranks wait
  std::optional<process_id> launcher;         ///< MPI2DD: who raised START or SPAWN last
  std::vector<base::unique_fd> doomed_ranks;  ///< `end`: pidfds of the local ranks

  followed_process& add_candidate(process_id pid);
  /// It is the starter, as far as we know.
  void favour(followed_process& process);
  /// It has spawned the job: everybody else is let go.
  void decide(followed_process& process);
  void let_go_of_others();

  void handle(const process_event& event);
  void at_birth(process_id pid, process_id parent);
  void at_entry(followed_process& process);
  void at_breakpoint(followed_process& process, target_address where);
  [[nodiscard]] const local_host& this_host();
  void at_state_written(followed_process& process);
  void at_end(followed_process& process, const exit_status& status);
  void finish();
  /// The tracing process has let go of it by itself.
  void at_loss(followed_process& process, const error& why);
  void at_member_end(followed_process& process, const exit_status& status);
  /// Null for a process that is none of ours.
  [[nodiscard]] followed_process* find(process_id pid);
  /// Does what the state machine asks for. True where the process has to stay stopped for the caller.
  [[nodiscard]] bool carry_out(followed_process& process, process_interface::steps steps);
  [[nodiscard]] bool carry_out_one(followed_process& process, step& next);
  [[nodiscard]] bool report(followed_process& process, const mpir::report_processes& report);
  // MPI2DD (mpi2dd_events.cpp, mpi2dd_gates.cpp).
  [[nodiscard]] bool look_for_job_from(followed_process& process);
  [[nodiscard]] bool report(followed_process& process, mpi2dd::report_event& event);
  [[nodiscard]] tracked_graph& graph_from(const followed_process& process);
  void take_table();
  /// START or SPAWN was raised: whether the new ranks are to wait at their gates is decided when it goes on.
  void decide_on_gates(followed_process& launcher);
  void notice_closed_gates(const followed_process& starts, const far_ranks& far);
  /// The same where a gate of this node has turned out to be one that may not be opened.
  void let_nobody_wait_for_what_is_refused();
  /// What MPI2DD says of a rank, by the process itself, by who has started it, and by the starter.
  struct told_flags {
    mpi2dd::flag_set<mpi2dd::mpi_flag> own, launchers, starters;
    [[nodiscard]] bool has(mpi2dd::mpi_flag flag) const {
      return own.has(flag) || launchers.has(flag) || starters.has(flag);
    }
  };
  [[nodiscard]] told_flags flags_of_rank(const process_table& table, std::size_t entry);
  [[nodiscard]] bool waits_at_gate(std::string_view host, process_id rank);
  /// Takes up what has become due by itself.
  void on_time();
  void look_again();
  void expect_daemons();
  void look_for_daemons();
  void report_daemons();
  void run_on(followed_process& process);
  /// Waits for all threads of these to stop, as far as they are ours. Breakpoints that are met on the way are told
  /// after what the caller has been told, which they would change.
  void stop_all(std::span<const process_id> which);
  [[nodiscard]] bool postpone(const process_event& event);
  void take_postponed();
  /// It stands at an event that the caller has not been given yet.
  [[nodiscard]] bool is_untold(process_id process) const;
  /// What the interface has us write. It goes back by itself if this program dies, as soon as that does no harm.
  [[nodiscard]] result<void> write(followed_process& process, const write_bytes& what);
  /// From now on MPIR_being_debugged of a launched starter goes back to 0 with us.
  void withdraw_at_our_end(followed_process& process);
  void notice(error what) { coming.emplace_back(job_notice{std::move(what)}); }
  void notice_failure(const result<void>& done) {
    // A starter that died under our hands says so itself, by its end.
    if (!done && done.error().code != error_code::process_gone) notice(done.error());
  }

  /// Nothing is done to the job by a copy in a forked child. Error: invalid_argument.
  [[nodiscard]] result<void> is_made_here() const;
  [[nodiscard]] result<void> hold();
  /// Undoes everything in the starter and its ranks, and leaves the starter stopped.
  [[nodiscard]] result<void> withdraw(leave how);
  /// After the table was reported: ranks that wait at a gate go on, but for those that stay held.
  void open_gates(bool held_ones_too);
  void try_gates();
  /// True where it is open, or need not be.
  [[nodiscard]] bool open_one(closed_gate& gate);
  void force_end();
  [[nodiscard]] bool is_local(const process_table& table, std::size_t entry) const;
  [[nodiscard]] rank_state state_of_rank(const process_table& table, std::size_t entry) const;
  /// A process of this node belongs to another user than the starter: it is no rank, whatever the table says.
  [[nodiscard]] bool is_other_users(process_id pid) const;
  /// Says which ranks of the table are none because of that.
  void notice_other_users_ranks();
};

}  // namespace mpiacq
