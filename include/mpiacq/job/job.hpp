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
#include "mpiacq/mpi2dd/mpi2dd_info.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/process/tracer.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "mpiacq/ranks/rank_hold.hpp"
#include "mpiacq/ranks/rank_selection.hpp"
#include "mpiacq/ranks/rank_set.hpp"

namespace mpiacq {

/// What a rank is doing, as far as this node can tell.
enum class rank_state : std::uint8_t {
  held,        ///< stopped by us
  running,     ///< on this node and running or sleeping
  stopped,     ///< on this node and stopped by somebody else (srun holds its tasks so)
  gone,        ///< the table says this node, but there is no such process
  remote,      ///< on another node
  other_user,  ///< on this node, and it belongs to another user than the starter: it is no rank, and nothing is done
               ///< to it (process_user.hpp)
  unknown,     ///< on this node, and this program cannot look at it: it has no descriptor left, for instance
};
/// "held", "running", "stopped", "gone", "remote", "other-user", "unknown"
[[nodiscard]] std::string_view name(rank_state state);
/// It is a living process of this node that is one of the job's: held, running or stopped.
[[nodiscard]] bool is_on_this_node(rank_state state);

/// Writes the byte 1 into a starter's MPIR_attach_fifo, so that the starter looks at MPIR_being_debugged
/// (MPIR 1.1, 7.2, 9.17). `path` is the starter's word, looked up as the starter would. Nothing but a FIFO of the user
/// that the starter runs as is opened; it never blocks. Errors: process_gone, not_found, permission, bad_format (no
/// FIFO), busy (nobody reads it, or it is full), system; each with the path.
[[nodiscard]] result<void> kick_attach_fifo(const std::string& path, process_id starter);

/// What an MPI2DD event was, and what it has changed.
struct job_change {
  mpi2dd::debug_state state = mpi2dd::debug_state::none;
  process_id raised_by;
  std::vector<std::uint32_t> came;  ///< entries of `job::processes` that were in no table at the event before
  std::size_t left = 0;             ///< so many are in none any more
};

/// The processes were spawned, or more of them have appeared. The starter is stopped at MPIR_Breakpoint; with MPI2DD
/// the starter (START), or the rank that spawned a new world (SPAWN), at MPI2DD_breakpoint.
struct job_spawned {
  std::optional<job_change> change = {};  ///< MPI2DD
};
/// Attached to a starter whose table is there. The starter is stopped where it was.
struct job_attached {};
/// The starter has started the tool's daemons on the job's nodes (MPIR 1.1, 7.1): it has said so, or, in attach mode, a
/// new child of the starter was seen; a starter says it once in its life. It comes once, and needs no resume. What a
/// starter launches in attach mode it launches after `resume`: whoever detaches before takes the request back.
struct daemons_launched {};
/// The job aborts. The starter is stopped at MPIR_Breakpoint, or the process that raises ABORT at MPI2DD_breakpoint:
/// the rank first, then the starter.
struct job_aborting {
  std::optional<std::string> reason;
  std::optional<job_change> change = {};  ///< MPI2DD
};
/// Any other event of MPI2DD: worlds have met (CONNECT, ACCEPT, JOIN), or a table has changed. The process that raised
/// it is stopped at MPI2DD_breakpoint.
struct job_changed {
  job_change change;
};
/// Nothing was lost but the user should know: symbols that are not there, a field that the starter filled wrongly.
/// The starter is running or will be; no resume is needed.
struct job_notice {
  error what;
};
/// The starter was stopped by a stop signal (Ctrl-Z, SIGSTOP), as without us, or continued after one.
struct starter_stopped {
  int signal = 0;
};
struct starter_continued {};
/// The tracing process has let go of the job by itself (tracer.hpp, control_lost): this program was silent for longer
/// than `job_options::hold_limit` while a process of the job was stopped, or the tracing process was killed. The job
/// goes on without this program, as after `detach`. Only starter_ended follows, for a starter that was launched.
struct job_lost {
  error why;
};
/// The starter has ended. Nothing comes after it.
struct starter_ended {
  exit_status status;
};
/// What a job has done.
using job_event = std::variant<job_spawned, job_attached, daemons_launched, job_aborting, job_changed, job_notice,
                               starter_stopped, starter_continued, job_lost, starter_ended>;

/// How a job is launched or attached to.
struct job_options {
  table_limits limits;
  debug_file_search debug_files;
  breakpoint_kind breakpoints = breakpoint_kind::automatic;
  /// Ends the starter when this process dies. Only where the user asked for it.
  bool kill_with_tool = false;
  std::optional<std::vector<std::string>> environment;  ///< of the starter; empty: this process's own
  /// To be started by the starter, one on each node (MPIR 1.1, 7.1). What is wrong with it is a job_notice;
  /// `facts().daemons` says what became of it.
  std::optional<mpir::daemon_request> daemons;
  /// The ranks that `hold_ranks` takes hold of.
  rank_selection ranks;
  /// The interface to use; empty: MPI2DD where it is there, else MPIR.
  std::optional<interface_kind> interface;
  /// MPI2DD: stay with the ranks and directories of this node after `resume`, and report what they raise. A process can
  /// have one tracer: where somebody else is to look at the ranks, let them be. Then the starter's events come alone.
  bool follow_ranks = true;
  /// MPI2DD: the caller opens the gates of `job::gates_elsewhere` (rank_group::open_gates). Otherwise a process that
  /// starts ranks on other nodes is told that it is not debugged, so that no rank waits at a gate, and a notice says
  /// so.
  bool opens_gates_elsewhere = false;
  /// As tracer_options::hold_limit: how long this program may be silent while the starter or a rank is stopped for it
  /// (after an event that stops them, and after `hold_ranks`). Calls of the job start the time again. A debugger whose
  /// user looks at a stopped job for as long as he likes sets it to empty. What `detach(leave::stopped)` leaves stopped
  /// has no limit.
  std::optional<std::chrono::milliseconds> hold_limit = default_hold_limit;
};

/// What a tool is told of one rank. With MPIR the starter says it of all; with MPI2DD (docs/mpi2dd.md) a process says
/// it of itself, of the ranks that it starts, and a starter of all its job.
struct rank_facts {
  bool acquired_pre_main = false;  ///< its main has not begun when it is reported (MPIR 1.1, 9.11)
  bool force_to_main = false;      ///< a tool should show the source code of its main first (9.12)
  bool partial_attach_ok = false;  ///< it needs no gate opened: who started it lets it go (9.13)
  bool ignore_queues = false;      ///< it has no message queues to be shown (9.14)
  friend bool operator==(const rank_facts&, const rank_facts&) = default;
};

/// A parallel job under control, from its starter's command line to its processes.
///
///   auto job = mpiacq::job::launch({"mpirun", "-n", "4", "./app"});
///   while (auto event = (*job)->next(deadline)) ...
///
/// The job belongs to the process that made the object. A forked child has a copy of it, as of any other object that
/// holds processes (tracer, rank_group, queue_host, check::run): nothing can be asked of that copy, and its
/// end changes nothing.
///
/// Thread: one at a time.
class job {
 public:
  /// Observes a job that runs: reads its process table without stopping, tracing or writing to any process. What
  /// `job::attach` does to a starter (it stops it, and says that it is being debugged) is not needed to learn its
  /// ranks. `named` is the starter or leads to it, as for `attach`. A table counts as complete when the starter says so
  /// (MPIR_debug_state), or when every field of every entry is filled (MPIR 1.1, chapter 8, steps 5 and 6), and two
  /// reads in a row are the same: the starter may be filling it. It is waited for until `until`.
  /// Errors: not_found (no such process, no starter), permission, process_gone (it has ended), timed_out (no complete
  /// table by then; the message says what was there). Thread: any.
  [[nodiscard]] static result<job_description> find(process_id named, const find_options& options = {},
                                                    const time_limit& until = clock::now());
  /// Starts the starter under control. Errors as `tracer::launch`.
  [[nodiscard]] static result<std::unique_ptr<job>> launch(std::vector<std::string> command, job_options options = {});
  /// Takes hold of a starter that runs already (MPIR's attach mode). `named` may also be a rank of its job, or a
  /// wrapper that has started it: `starter().found_how` says what was attached to instead. The first event is
  /// job_attached if the table is there; else the starter runs on, and it follows when the table is there or the
  /// starter reports it. Errors: as `tracer::attach`; not_found where no starter can be found.
  [[nodiscard]] static result<std::unique_ptr<job>> attach(process_id named, job_options options = {});
  /// Lets go of everything as `detach` does; the job goes on.
  ~job();
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  /// The next thing that the job does; empty where `until` passed first. After job_spawned, job_attached, job_changed
  /// and job_aborting the starter, or the process that raised it, is stopped until one of the verbs below.
  [[nodiscard]] result<std::optional<job_event>> next(deadline until = no_deadline);
  /// A descriptor to poll for reading: readable while `next` may have something. Poll no longer than until `wake_at`.
  [[nodiscard]] int event_descriptor() const;
  /// When `next` is to be called even if nothing has come: `end` has a promise to keep, a table or a rank is to be
  /// looked at again.
  [[nodiscard]] deadline wake_at() const;

  /// Starts the time of `job_options::hold_limit` again. Call it after each step of long work on a stopped job.
  void keep_held();
  /// Lets the starter and the ranks that are held run on, and stays with the starter. Where the starter alone does not
  /// release the ranks (no MPIR_partial_attach_ok), the gate of every rank of this node is opened, also of those that
  /// were not selected (MPIR 1.1, chapter 8, step 18). With MPI2DD it first takes hold of what is new of the job on
  /// this node, for its events.
  [[nodiscard]] result<void> resume();
  /// Stops every thread of the selected ranks of this node, and tells them that they are being debugged (9.3). The
  /// starter's own entry is held with the starter. One outcome for each selected rank, in order; a rank of another node
  /// has failed as unsupported.
  [[nodiscard]] std::vector<rank_hold> hold_ranks();
  /// The job as it is now, in the form in which `find` gives it. Its `processes` are null before the first spawn.
  [[nodiscard]] job_description description() const;
  /// Ranks to look at, on all nodes. A process has one tracer: this job's tracer stops and releases those ranks that
  /// this job follows, and reads those that `hold_ranks` holds, which stay held. A second tracer takes all others on
  /// this node; agents take those of other nodes. `options.agents->everywhere` has no effect. While the caller has an
  /// event to answer, and no longer than this job. Errors as `job_description::ranks`; invalid_argument before there
  /// are any.
  [[nodiscard]] result<rank_group> ranks(const rank_options& options = {});
  /// The entries of other nodes that may wait at a gate (MPIR 1.1, 9.8; MPI2DD_FLAG_GATE), which this object cannot
  /// open: rank_group::open_gates does. Empty where the starter releases its ranks itself (MPIR_partial_attach_ok), and
  /// before there is a table.
  [[nodiscard]] rank_set gates_elsewhere() const;
  /// MPI2DD: takes `job_options::opens_gates_elsewhere` back, before `resume`: no rank of another node is told to wait.
  void nobody_opens_gates_elsewhere();
  /// Lets somebody else trace a rank of this node for a while: it is let go, with its gate open, and with no word of a
  /// debugger. False where it stands at an event, and cannot be lent before `resume`. What it raises until it is taken
  /// back is not seen. True for what is nobody's. Errors: timed_out, as `detach`.
  [[nodiscard]] result<bool> lend(process_id rank);
  /// It is followed again, and so is what has come into the job's tables by then.
  void take_back(process_id rank);
  /// Writes MPIR_being_debugged = 0, takes the breakpoint away and lets the starter and the ranks that are held run
  /// without us (the gates are opened as by `resume`), or leaves them stopped for another tool; then only the gates of
  /// ranks that are not held are opened. The end of a starter that was launched is still reported.
  [[nodiscard]] result<void> detach(leave how = leave::running);
  /// Asks the starter to end its job (SIGTERM), and after `grace` ends it with SIGKILL, then whatever local ranks of
  /// the table are still the processes that they were. starter_ended follows.
  [[nodiscard]] result<void> end(std::chrono::milliseconds grace = std::chrono::seconds(5));

  /// Sends the starter a signal, as kill(2) would; nothing where it has ended.
  void signal(int number);

  /// The starter of the job.
  [[nodiscard]] const starter_facts& starter() const;
  /// What is known of the job in addition to its processes.
  [[nodiscard]] const mpir::job_facts& facts() const;
  /// Null before the first spawn.
  [[nodiscard]] std::shared_ptr<const process_table> processes() const;
  /// One for each entry of the table. A rank of this node is asked the first time.
  [[nodiscard]] std::vector<rank_facts> facts_of_ranks() const;
  /// One for each entry of the table, looked at when this is called.
  [[nodiscard]] std::vector<rank_state> rank_states() const;
  /// Whether an entry is on this node.
  [[nodiscard]] bool is_local(std::size_t entry) const;
  /// The one that the job is acquired by; before its symbols are found, the one that is missed.
  [[nodiscard]] interface_kind interface() const;
  /// MPIR's. Null before the starter's entry point, and with MPI2DD.
  [[nodiscard]] const mpir::symbol_set* symbols() const;
  /// The starter's symbols of the interface, whichever it is: those that are there, by the names that its document has.
  [[nodiscard]] std::vector<symbol> interface_symbols() const;
  /// While the interface's symbols have not all been found: which are missing, where they were looked for, and what to
  /// do about it, in one sentence. Empty once they are there. A wrapper lacks them until it has exec'ed the real
  /// starter, so this is news only to somebody who has waited for a while.
  [[nodiscard]] std::optional<std::string> missing_symbols() const;
  /// Where the message-queue library of the ranks is, as a local rank's MPIR_dll_name says, or its MPI2DD_info for
  /// debuggers of our width, else the starter's; empty where none does.
  [[nodiscard]] std::optional<std::string> queue_library() const;

 private:
  struct state;
  explicit job(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// What a program offers to a tool, without running or stopping it.
struct inspection {
  std::string what;  ///< the file, or /proc's name of the process's executable
  std::optional<process_id> pid;
  target_abi abi;
  std::vector<std::shared_ptr<const module>> modules;
  mpir::symbol_set symbols;
  /// From debug information, or inferred from the ABI; empty where there is no MPIR_proctable.
  std::optional<structure_layout> layout;
  // MPI2DD: its two symbols, and the info block of a process that runs, where that is one.
  std::optional<symbol> mpi2dd_info;
  std::optional<symbol> mpi2dd_breakpoint;
  std::optional<mpi2dd::process_info> mpi2dd;
  std::vector<error> problems;
  /// One sentence on what is missing, in which module, with its build id, and what to do about it; empty where
  /// the interface is complete, and of a program that has MPI2DD and nothing of MPIR.
  std::optional<std::string> missing_symbols;
};
/// A program's file, with the libraries that it would load. Errors as `file_symbols::open`.
[[nodiscard]] result<inspection> inspect_file(const std::string& path, const debug_file_search& search = {});
/// A running process, which is neither stopped nor attached to. Errors as `process_symbols::open`.
[[nodiscard]] result<inspection> inspect_process(process_id pid, const debug_file_search& search = {});

/// The library's version, "0.1.0".
[[nodiscard]] std::string_view version();

}  // namespace mpiacq
