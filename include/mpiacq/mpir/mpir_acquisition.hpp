// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The state machine of the MPIR Process Acquisition Interface 1.1, from the tool's side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mpiacq/job/process_table.hpp"
#include "mpiacq/mpir/mpir_daemons.hpp"
#include "mpiacq/mpir/mpir_symbols.hpp"
#include "mpiacq/process/symbols.hpp"

/// The MPIR Process Acquisition Interface, version 1.1, from the tool's side.
namespace mpiacq::mpir {

/// MPIR_debug_state at a breakpoint (MPIR 1.1, 9.6).
inline constexpr std::int64_t state_null = 0;
inline constexpr std::int64_t state_spawned = 1;
inline constexpr std::int64_t state_aborting = 2;

// The actions: what the tool does next, in the order given, with its own process control.

/// Insert a breakpoint at an address of the starter.
struct plant_breakpoint {
  target_address address;
};
/// Remove the breakpoint at an address.
struct lift_breakpoint {
  target_address address;
};
/// Write bytes, which are in the order of the target, into the starter.
struct write_memory {
  target_address address;
  std::vector<std::byte> bytes;
  known what;  ///< the variable
};
/// Stop the starter whenever it has written these bytes, and call `at_state_written`. The variable is MPIR_debug_state,
/// and the action comes only with `acquisition_options::watch_debug_state`.
struct watch_variable {
  target_address address;
  std::size_t length = 0;
};
/// Remove the watchpoint at an address.
struct unwatch_variable {
  target_address address;
  std::size_t length = 0;
};
/// Write one byte of value 1 into this FIFO, in the file system that the starter sees (MPIR 1.1, 7.2, 9.17). The
/// starter then looks at MPIR_being_debugged. The path comes from the starter, so do not trust it: `job` opens it only
/// if it is a FIFO of the starter's owner, follows no link, and never blocks.
struct kick_fifo {
  std::string path;
};
/// The symbols are incomplete: call `modules_changed` when a library has been mapped.
struct watch_modules {};
/// The process table is incomplete. Wait for the breakpoint, and also call `look_again` at intervals until its answer
/// has no await_table: a starter that was launched without a tool fills its table and may never call MPIR_Breakpoint.
struct await_table {
  std::uint64_t claimed = 0;  ///< MPIR_proctable_size
  std::uint64_t filled = 0;   ///< the number of complete entries
  /// The process looks like a rank: there is no table, and it has what only ranks have (an Open MPI rank maps the
  /// library of the starter with all its symbols), or it lacks MPIR_i_am_starter (9.10). Nothing was written and no
  /// breakpoint is requested: look for the starter elsewhere. `look_again` on this target treats it as a starter
  /// nevertheless.
  bool looks_like_rank = false;
};
/// The process table: the job was spawned or has grown (MPIR_DEBUG_SPAWNED), or exists already at the attach.
struct report_processes {
  std::shared_ptr<const process_table> table;
};
/// The job aborts (MPIR_DEBUG_ABORTING). The reason is empty if the starter gives none.
struct report_abort {
  std::optional<std::string> reason;
};
/// The starter has raised the event that follows the launch of the daemons (7.1, step 5). A starter that has raised
/// this event before, for another tool, may launch the daemons and not raise it again.
struct report_daemons {};
/// Something is not as the document requires, and the acquisition goes on: an unknown state, an unreadable variable, a
/// table that is inconsistent or too short (problems of fields stay with the table), daemons that cannot be requested.
struct report_problem {
  error what;
};
/// One thing that the tool has to do.
using action =
    std::variant<plant_breakpoint, lift_breakpoint, write_memory, watch_variable, unwatch_variable, kick_fifo,
                 watch_modules, await_table, report_processes, report_abort, report_daemons, report_problem>;

/// What is known of the job in addition to its processes (MPIR 1.1, 9.10 to 9.17; the job ids of Slurm and Flux).
struct job_facts {
  bool starter_is_rank = false;    ///< the starter is rank 0 itself: the symbols are complete without MPIR_i_am_starter
  bool acquired_pre_main = false;  ///< of a launched job, the ranks have not entered main at the spawn event (9.11)
  bool force_to_main = false;      ///< the tool should show the source of main after the spawn event (9.12)
  bool partial_attach_ok = false;  ///< releasing the starter releases all ranks (9.13)
  bool ignore_queues = false;      ///< the tool should not show message queues (9.14)
  bool can_launch_daemons = false;  ///< the starter has the two variables of 7.1
  bool can_forward_output = false;  ///< the starter has MPIR_forward_output: it can forward the output of the daemons
  daemon_launch daemons = daemon_launch::not_asked;
  std::optional<std::string> attach_fifo;  ///< MPIR_attach_fifo, read when a kick was needed
  std::optional<std::string> job_id;
  std::optional<std::string> step_id;
};

/// What an acquisition does in addition.
struct acquisition_options {
  table_limits limits;
  std::optional<daemon_request> daemons;
  /// Also watch writes to MPIR_debug_state. Link-time optimisation may inline MPIR_Breakpoint into its callers: then
  /// its address is never reached, and only the write can be seen.
  bool watch_debug_state = false;
};

/// How `look_again` treats a table that the starter has not declared complete.
enum class taking : std::uint8_t {
  when_complete,  ///< report it once MPIR_debug_state is MPIR_DEBUG_SPAWNED, or every field of every entry is filled
  as_it_is,       ///< report it as it is, for a caller that waits no longer
};

/// The tool's half of the interface (MPIR 1.1, chapter 8). It controls no process: the tool tells it what happened and
/// passes the stopped target, and it answers what to do. It keeps no reference to a target between calls.
///
/// @verbatim
/// Launch mode (6.1):
///   at_entry          -> the daemons' variables if requested (7.1), being_debugged = 1, the breakpoint once all
///                        required symbols exist, else watch_modules. being_debugged is written as soon as it exists,
///                        but never before the daemons' variables.
/// Attach mode, in the order of chapter 8, steps 5 to 8:
///   at_attach         -> report_processes if the table exists (steps 5, 6), else await_table; the daemons' variables
///                        (7.1), being_debugged = 1 (7), the breakpoint (8), kick_fifo if there are daemons to launch
///                        (7.2). With incomplete symbols: watch_modules, and nothing is written.
///   look_again        -> report_processes once the table exists, else await_table again. Nothing after the report.
///   The table exists if MPIR_debug_state is 1, or 2 (then report_abort follows). With state 0 the starter may still be
///   filling the table: srun sets its size before its tasks run. Then each field of each entry has to be valid.
/// Both modes:
///   modules_changed   -> the same for symbols of a new library; nothing once the breakpoint is planted
///   at_breakpoint     -> MPIR_NULL: nothing. SPAWNED: the table, unless the same processes were reported last.
///                        ABORTING: the reason, unless at_attach or at_state_written reported it.
///   at_state_written  -> the same after a write of MPIR_debug_state; await_table while the table is incomplete
///   before_detach     -> being_debugged = 0 (9.3), the old values of the daemons' variables, lift_breakpoint
/// @endverbatim
///
/// The document does not say what happens to the daemons' variables. They get their old values back, because otherwise
/// the next tool that writes being_debugged = 1 would make the starter launch these daemons. For the same reason
/// at_attach empties a path that another tool has left, reports it, and before_detach restores it.
///
/// If you release a launched starter before it has published its table, leave being_debugged at 1, as `job` does: the
/// ranks of Open MPI wait for a message that mpirun sends only while it is 1.
///
/// If a target cannot be written (`target::writer` is null: a core file), at_attach reports the table as it is, or a
/// problem if there is none, and requests nothing else.
///
/// Missing symbols are no problem as long as a library may bring them; `symbols()->missing()` names them. An integer
/// variable has the size of its symbol (a C int if that is 0). A string variable whose symbol does not have the size of
/// a pointer is an array.
///
/// Errors of all calls: the target cannot be read any more (process_gone, permission), or its symbols cannot be read.
/// Anything less is a report_problem among the actions.
///
/// After an exec of the starter, call `at_entry` again.
///
/// Thread: one at a time.
class acquisition {
 public:
  /// A state machine for one starter.
  explicit acquisition(acquisition_options options = {});
  ~acquisition();
  acquisition(acquisition&&) noexcept;
  acquisition& operator=(acquisition&&) noexcept;

  /// The launched starter is at its entry point (AT_ENTRY).
  [[nodiscard]] result<std::vector<action>> at_entry(const target& starter);
  /// The tool has attached to a running starter.
  [[nodiscard]] result<std::vector<action>> at_attach(const target& starter);
  /// Some time has passed since an await_table.
  [[nodiscard]] result<std::vector<action>> look_again(const target& starter, taking how = taking::when_complete);
  /// A library was mapped since a watch_modules.
  [[nodiscard]] result<std::vector<action>> modules_changed(const target& starter);
  /// A thread has reached the breakpoint.
  [[nodiscard]] result<std::vector<action>> at_breakpoint(const target& starter);
  /// The starter has written MPIR_debug_state.
  [[nodiscard]] result<std::vector<action>> at_state_written(const target& starter);
  /// The tool is about to detach.
  [[nodiscard]] result<std::vector<action>> before_detach(const target& starter);

  /// The symbols at the last call; null before the first call.
  [[nodiscard]] const symbol_set* symbols() const;
  /// The address for the breakpoint; empty while MPIR_Breakpoint is not found.
  [[nodiscard]] std::optional<target_address> breakpoint() const;
  /// The layout of a descriptor; null before the first table.
  [[nodiscard]] const structure_layout* layout() const;
  /// The last reported table; null before the first.
  [[nodiscard]] std::shared_ptr<const process_table> table() const;
  /// The facts of the job. Flags are valid once the symbols are found, ids once the table is reported.
  [[nodiscard]] const job_facts& facts() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq::mpir
