// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/job/job_description.hpp"
#include "mpiacq/job/process_table.hpp"
#include "mpiacq/job/slurm_job.hpp"
#include "mpiacq/mpi2dd/mpi2dd_info.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "mpiacq/ranks/rank_hold.hpp"
#include "mpiacq/ranks/rank_selection.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

/// The state of a rank's process, as this node sees it.
enum class rank_state : std::uint8_t {
  held,        ///< stopped by this program
  running,     ///< on this node and running or sleeping
  stopped,     ///< on this node and stopped by another program (srun holds its tasks in this way)
  gone,        ///< the table names this node, but the process does not exist
  remote,      ///< on another node
  other_user,  ///< on this node, but the process belongs to another user than the starter: it is no rank, and mpiacq
               ///< does not touch it (process_user.hpp)
  unknown,     ///< on this node, but this program cannot look at it, for instance because it has no descriptor left
};
/// "held", "running", "stopped", "gone", "remote", "other-user", "unknown"
[[nodiscard]] std::string_view name(rank_state state);
/// Whether the rank is a living process of this node: held, running or stopped.
[[nodiscard]] bool is_on_this_node(rank_state state);

/// Writes the byte 1 into a starter's MPIR_attach_fifo, so that the starter looks at MPIR_being_debugged
/// (MPIR 1.1, 7.2, 9.17). The starter has named `path`. The call looks it up as the starter would: below the starter's
/// root, in its mount namespace, and from its working directory if the path is relative.
///
/// The file must be a FIFO that belongs to the starter's user, and not a link to one. The call opens nothing else for
/// writing and creates nothing. It never blocks, and causes no SIGPIPE. Errors: process_gone, not_found (no such file),
/// permission (a link, another owner, or no right to find or to write the file), bad_format (no FIFO), busy (no reader,
/// or the FIFO is full), system; each with the path.
[[nodiscard]] result<void> kick_attach_fifo(const std::string& path, process_id starter);

/// An event of MPI2DD and the changes that it announces.
struct job_change {
  mpi2dd::debug_state state = mpi2dd::debug_state::none;  ///< the kind of event
  process_id raised_by;                                   ///< the process that stopped at MPI2DD_breakpoint
  std::vector<entry_index> came;                          ///< the new entries of `job::processes` since the last event
  std::size_t left = 0;                                   ///< the number of processes that no table lists any more
};

/// The starter has spawned the processes of the job, or more of them have appeared. The starter is stopped at
/// MPIR_Breakpoint. With MPI2DD the starter (START), or the rank that spawned a new world (SPAWN), is stopped at
/// MPI2DD_breakpoint.
struct job_spawned {
  std::optional<job_change> change = {};  ///< only with MPI2DD
};
/// The job is attached, and the process table is complete. The starter is stopped where it was.
struct job_attached {};
/// The starter has launched the tool's daemons on the job's nodes (MPIR 1.1, 7.1). The starter announces it once in its
/// life; in attach mode a new child of the starter shows it too. The event occurs once and needs no `resume`. In attach
/// mode the starter launches daemons after `resume`; a `detach` before that withdraws the request.
struct daemons_launched {};
/// The job aborts. The starter is stopped at MPIR_Breakpoint. With MPI2DD the process that raises ABORT is stopped at
/// MPI2DD_breakpoint: first the rank, then the starter.
struct job_aborting {
  std::optional<std::string> reason;      ///< MPIR_debug_abort_string; empty: the starter gives none
  std::optional<job_change> change = {};  ///< only with MPI2DD
};
/// Any other event of MPI2DD: worlds have connected (CONNECT, ACCEPT, JOIN), or a table has changed. The process that
/// raised it is stopped at MPI2DD_breakpoint.
struct job_changed {
  job_change change;  ///< the event
};
/// A problem that costs nothing but that the user should know: missing symbols, or a field that the starter filled
/// wrongly. The event needs no `resume`.
struct job_notice {
  error what;  ///< the problem
};
/// A stop signal (Ctrl-Z, SIGSTOP) has stopped the starter, as it would without this program.
struct starter_stopped {
  int signal = 0;  ///< the number of the signal
};
/// The starter continues after a stop signal.
struct starter_continued {};
/// This program controls the job no more. The tracer server has released it by itself (tracer.hpp, control_lost): this
/// program made no call for longer than `job_options::hold_limit` while a process of the job was stopped, or the tracer
/// server was killed. Or the PMIx server of a launched job gives no table, and `job_options::interface` wants no other
/// source. The job runs on without this program, as after `detach`. Only starter_ended follows, for a starter that was
/// launched.
struct job_lost {
  error why;  ///< why control was lost
};
/// The starter has ended. It is the last event.
struct starter_ended {
  exit_status status;  ///< of the starter
  /// False after an attach by PMIx: this program was neither the parent nor the tracer of the starter, and `status` has
  /// no meaning.
  bool status_is_known = true;
};
/// An event of a job.
using job_event = std::variant<job_spawned, job_attached, daemons_launched, job_aborting, job_changed, job_notice,
                               starter_stopped, starter_continued, job_lost, starter_ended>;

/// How a job is launched or attached to.
struct job_options {
  table_limits limits;                                       ///< for the process table
  debug_file_search debug_files;                             ///< for the symbols of the starter
  breakpoint_kind breakpoints = breakpoint_kind::automatic;  ///< for the breakpoint in the starter
  /// Ends the starter when this process dies. Set it only if the user asks for it.
  bool kill_with_tool = false;
  std::optional<std::vector<std::string>> environment;  ///< of the starter; empty: this process's own
  /// A tool daemon that the starter launches once on each node (MPIR 1.1, 7.1), or its PMIx server (PMIx Standard 4.1,
  /// 18.4), which starts it by a shell that hides the daemon's exit status from the job. A problem with it is a
  /// job_notice; `facts().daemons` has the outcome.
  std::optional<mpir::daemon_request> daemons;
  /// The ranks that `hold_ranks` holds.
  rank_selection ranks;
  /// The source to use; empty: MPI2DD if the starter has it, otherwise MPIR, otherwise PMIx, otherwise the environment
  /// of the ranks.
  std::optional<interface_kind> interface;
  /// `attach` to a job that the environment of its ranks shows: how its ranks on other nodes are found, as in
  /// `find_options`. Empty: they are not.
  std::optional<agents_options> agents = {};
  std::vector<std::string> hosts = {};  ///< `find_options::hosts`
  /// MPI2DD: stay attached to the ranks and directories of this node after `resume`, and report their events. A process
  /// has only one tracer: set it to false if another tool examines the ranks. Then only the starter's events are
  /// reported.
  bool follow_ranks = true;
  /// MPI2DD: the caller opens the gates of `job::gates_elsewhere` (rank_group::open_gates). If false, `job` tells a
  /// process that starts ranks on other nodes that it is not debugged, so that no rank waits at a gate. A job_notice
  /// reports this.
  bool opens_gates_elsewhere = false;
  /// How long this program may make no call while it keeps the starter or a rank stopped, after an event that stops
  /// them or after `hold_ranks` (as tracer_options::hold_limit). Each call of the job restarts the time. An interactive
  /// debugger sets it to empty, which removes the limit. Processes that `detach(leave::stopped)` leaves stopped have no
  /// limit.
  std::optional<std::chrono::milliseconds> hold_limit = default_hold_limit;
};

/// The flags of one rank. With MPIR the starter sets them for all ranks. With MPI2DD (docs/mpi2dd.md) a process sets
/// them for itself and for the ranks that it starts, and a starter for its whole job.
struct rank_facts {
  bool acquired_pre_main = false;  ///< its main has not begun when the tool acquires it (MPIR 1.1, 9.11)
  bool force_to_main = false;      ///< a tool should show the source code of its main first (9.12)
  bool partial_attach_ok = false;  ///< the process that started it releases it, so no gate must be opened (9.13)
  bool ignore_queues = false;      ///< it has no message queues to show (9.14)
  friend bool operator==(const rank_facts&, const rank_facts&) = default;
};

/// A parallel job under control, from its starter's command line to its processes.
///
///   auto job = mpiacq::job::launch({"mpirun", "-n", "4", "./app"});
///   while (auto event = (*job)->next(deadline)) ...
///
/// The job belongs to the process that made the object. A forked child has a copy that it cannot use, as of any other
/// object that holds processes (tracer, rank_group, queue_host, check::run). The end of that copy changes nothing.
///
/// Thread: one at a time.
class job {
 public:
  /// Observes a running job: reads its process table without stopping, tracing or writing to any process. `named` is
  /// the starter, or a process that leads to it, as for `attach`. A table is complete when the starter says so
  /// (MPIR_debug_state), or when every field of every entry is filled (MPIR 1.1, chapter 8, steps 5 and 6), and when
  /// two reads in a row are equal, because the starter may be filling it. The call waits for a complete table until
  /// `until`. If no process of this node has a table of the job, the environment of its ranks shows those of this node
  /// (`interface_kind::environment`). Errors: not_found (no such process, no starter), permission, process_gone (it has
  /// ended), timed_out (no complete table by then; the message says what was there). Thread: any.
  [[nodiscard]] static result<job_description> find(process_id named, const find_options& options = {},
                                                    const time_limit& until = clock::now());
  /// The same for the only job of this node that the caller may look at (`list_jobs`). A job that the caller itself
  /// runs in does not count. Errors: not_found (there is none), invalid_argument (there are several; the message names
  /// the process of each). Thread: any.
  [[nodiscard]] static result<job_description> find(const find_options& options = {},
                                                    const time_limit& until = clock::now());
  /// The same for a job of Slurm, by its number (`process_of`). Errors: also those of `process_of`. Thread: any.
  [[nodiscard]] static result<job_description> find(const slurm_job& wanted, const find_options& options = {},
                                                    const time_limit& until = clock::now());
  /// Starts the starter under control. If the starter has no interface, its ranks are known by their environment
  /// (`interface_kind::environment`): they are held at the entry points of their programs until all ranks of this node
  /// have come, or until none has come for a second. Then job_spawned is reported, and nothing but held ranks is traced
  /// any more. A rank that a launcher announces and that does not come within ten seconds is one of the notices before
  /// job_spawned. If the starter of such ranks is a PMIx server, it is asked for the table then
  /// (`interface_kind::pmix`), and followed as after `attach`, but for its exit status, which is known. A server that
  /// gives no table is a notice. `next` can wait five seconds for its answer. Errors as `tracer::launch`.
  [[nodiscard]] static result<std::unique_ptr<job>> launch(std::vector<std::string> command, job_options options = {});
  /// Attaches to a running starter (MPIR's attach mode). `named` may also be a rank of the job, or a wrapper that has
  /// started the starter; then `starter().found_how` says how the starter was found. If the process table is complete,
  /// the first event is job_attached. Otherwise the starter runs on, and the event follows when the table is complete.
  /// With PMIx the starter is asked, and never stopped or traced: only the ranks that `hold_ranks` holds are. The
  /// server is asked every second for processes that the job has spawned (job_spawned) and for ranks that have ended
  /// (job_notice).
  /// If only the environment of the ranks shows the job, job_attached follows at once, and nothing is stopped or traced
  /// before `hold_ranks` or `ranks`. Errors: as `tracer::attach`; not_found if no job can be found.
  [[nodiscard]] static result<std::unique_ptr<job>> attach(process_id named, job_options options = {});
  /// Detaches as `detach` does; the job runs on.
  ~job();
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  /// Waits for the next event. Empty if `until` passes first. After job_spawned, job_attached, job_changed and
  /// job_aborting, the starter or the process that raised the event is stopped until `resume`, `detach` or `end`.
  [[nodiscard]] result<std::optional<job_event>> next(deadline until = no_deadline);
  /// A descriptor that is readable while `next` may have an event. Poll it no longer than until `wake_at`.
  [[nodiscard]] int event_descriptor() const;
  /// When to call `next` even if the descriptor is not readable: the grace of `end` is over, or a table or a rank must
  /// be examined again.
  [[nodiscard]] deadline wake_at() const;

  /// Restarts the time of `job_options::hold_limit`. Call it after each step of long work on a stopped job.
  void keep_held();
  /// Resumes the starter and the held ranks, and stays attached to the starter. If the starter does not release the
  /// ranks itself (no MPIR_partial_attach_ok), the call opens the gate of every rank of this node, selected or not
  /// (MPIR 1.1, chapter 8, step 18). With MPI2DD it first attaches to the job's new processes on this node, to get
  /// their events.
  [[nodiscard]] result<void> resume();
  /// Stops every thread of the selected ranks of this node, and sets their MPIR_being_debugged (9.3). A starter that is
  /// itself a rank is held as the starter. Returns one outcome for each selected rank, in order; a rank of another node
  /// has failed (unsupported).
  [[nodiscard]] std::vector<rank_hold> hold_ranks();
  /// The present description of the job. Its `processes` are null before the first spawn.
  [[nodiscard]] job_description description() const;
  /// A group of ranks on all nodes. A process has only one tracer. Therefore this job's tracer stops and releases the
  /// ranks that this job follows, and reads the ranks that `hold_ranks` holds, which stay held. A second tracer holds
  /// all other ranks of this node, and agents those of other nodes. `options.agents->everywhere` has no effect. Use the
  /// group while an event waits for its answer, and no longer than this job. Errors: as `job_description::ranks`;
  /// invalid_argument before the first spawn.
  [[nodiscard]] result<rank_group> ranks(const rank_options& options = {});
  /// The entries of other nodes that may wait at a gate (MPIR 1.1, 9.8; MPI2DD_FLAG_GATE). This object cannot open
  /// these gates; rank_group::open_gates does. Empty if the starter releases its ranks itself (MPIR_partial_attach_ok),
  /// and before the first spawn.
  [[nodiscard]] rank_set gates_elsewhere() const;
  /// MPI2DD: withdraws `job_options::opens_gates_elsewhere`, before `resume`: no rank of another node waits at a gate.
  void nobody_opens_gates_elsewhere();
  /// Releases a rank of this node so that another tool can trace it: opens its gate and clears its MPIR_being_debugged.
  /// Its events are not seen until `take_back`. Returns false if the rank is stopped at an event and cannot be lent
  /// before `resume`, and true for a process that this job does not trace. Errors: timed_out, as `detach`.
  [[nodiscard]] result<bool> lend(process_id rank);
  /// Attaches to the rank again, and to the processes that the job's tables have gained meanwhile.
  void take_back(process_id rank);
  /// Writes MPIR_being_debugged = 0, removes the breakpoint, opens gates as `resume` does, and releases the starter and
  /// the held ranks. With `leave::stopped` they stay stopped for another tool, and only the gates of ranks that are not
  /// held are opened. The end of a starter that was launched is still reported.
  [[nodiscard]] result<void> detach(leave how = leave::running);
  /// Sends SIGTERM to the starter, so that it ends its job. After `grace` sends SIGKILL to the starter and to those
  /// ranks of this node that still run. starter_ended follows. Error: unsupported (the environment shows the job, and
  /// no process of this node is known as its starter; nothing was ended).
  [[nodiscard]] result<void> end(std::chrono::milliseconds grace = std::chrono::seconds(5));

  /// Sends a signal to the starter, as kill(2) does. Does nothing if the starter has ended.
  void signal(int number);

  /// The starter of the job.
  [[nodiscard]] const starter_facts& starter() const;
  /// What the starter announces beside the process table.
  [[nodiscard]] const mpir::job_facts& facts() const;
  /// The process table. Null before the first spawn.
  [[nodiscard]] std::shared_ptr<const process_table> processes() const;
  /// The flags of each entry of the table. The first call reads them from the ranks of this node.
  [[nodiscard]] std::vector<rank_facts> facts_of_ranks() const;
  /// The present state of each entry of the table.
  [[nodiscard]] std::vector<rank_state> rank_states() const;
  /// Whether an entry is on this node.
  [[nodiscard]] bool is_local(entry_index entry) const;
  /// The interface by which the job is acquired. Before its symbols are found: the interface that is looked for.
  [[nodiscard]] interface_kind interface() const;
  /// The symbols of MPIR. Null before the starter reaches its entry point, and with MPI2DD.
  [[nodiscard]] const mpir::symbol_set* symbols() const;
  /// The symbols of the starter's interface that were found, with the names of the interface's document.
  [[nodiscard]] std::vector<symbol> interface_symbols() const;
  /// One sentence while some symbols of the interface are missing: which ones, where they were looked for, and what the
  /// user can do. Empty once all are found. A wrapper lacks them until it executes the real starter, so show the
  /// sentence only after some time.
  [[nodiscard]] std::optional<std::string> missing_symbols() const;
  /// The path of the queue library: MPIR_dll_name of a rank of this node, or its MPI2DD_info for debuggers of this
  /// program's width, otherwise the starter's. Empty if none names one.
  [[nodiscard]] std::optional<std::string> queue_library() const;

 private:
  struct state;
  explicit job(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// The debugger interfaces of a program, seen without running or stopping it.
struct inspection {
  std::string what;               ///< the path of the file, or of the process's executable in /proc
  std::optional<process_id> pid;  ///< empty for a file
  target_abi abi;                 ///< of the program
  std::vector<std::shared_ptr<const module>> modules;  ///< the program and its libraries
  mpir::symbol_set symbols;                            ///< the symbols of MPIR
  /// The layout of MPIR_PROCDESC, from debug information or inferred from the ABI; empty if there is no MPIR_proctable.
  std::optional<structure_layout> layout;
  std::optional<symbol> mpi2dd_info;           ///< MPI2DD: the symbol of the info block
  std::optional<symbol> mpi2dd_breakpoint;     ///< MPI2DD: the symbol of the breakpoint function
  std::optional<mpi2dd::process_info> mpi2dd;  ///< MPI2DD: the info block of a running process
  std::vector<error> problems;                 ///< what could not be read
  /// One sentence on the missing symbols, the module with its build id, and what the user can do. Empty if the
  /// interface is complete, and for a program that has MPI2DD and nothing of MPIR.
  std::optional<std::string> missing_symbols;
};
/// Inspects a program's file, with the libraries that it would load. Errors: as `file_symbols::open`.
[[nodiscard]] result<inspection> inspect_file(const std::string& path, const debug_file_search& search = {});
/// Inspects a running process without stopping or attaching to it. Errors: as `process_symbols::open`.
[[nodiscard]] result<inspection> inspect_process(process_id pid, const debug_file_search& search = {});

/// The library's version, "0.1.0".
[[nodiscard]] std::string_view version();

}  // namespace mpiacq
