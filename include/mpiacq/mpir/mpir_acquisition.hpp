// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
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

/// The MPIR Process Acquisition Interface, version 1.1, seen from the tool's side.
namespace mpiacq::mpir {

/// MPIR_debug_state at a breakpoint (MPIR 1.1, 9.6).
inline constexpr std::int64_t state_null = 0;
inline constexpr std::int64_t state_spawned = 1;
inline constexpr std::int64_t state_aborting = 2;

// What the tool has to do next. It does them in the order given, with whatever it controls processes with.
/// Put a breakpoint at an address of the starter.
struct plant_breakpoint {
  target_address address;
};
/// Take it away again.
struct lift_breakpoint {
  target_address address;
};
/// Write bytes, already in the target's order, into the starter.
struct write_memory {
  target_address address;
  std::vector<std::byte> bytes;
  known what;
};
/// Stop the starter whenever it has written these bytes: MPIR_debug_state, where `acquisition_options` ask for it. Call
/// `at_state_written` then.
struct watch_variable {
  target_address address;
  std::size_t length = 0;
};
/// No longer.
struct unwatch_variable {
  target_address address;
  std::size_t length = 0;
};
/// Write one byte of value 1 into this FIFO on the starter's node, as the starter sees its file system (7.2, 9.17): it
/// then looks at MPIR_being_debugged. The path is the starter's word: `job` opens it only if it is a FIFO of the
/// starter's owner, follows no link, and never blocks.
struct kick_fifo {
  std::string path;
};
/// The symbols are not there yet: call `modules_changed` when a library has been mapped.
struct watch_modules {};
/// The process table is not there yet, or not all of it: call `look_again` at intervals until there is no await_table
/// among its actions, beside waiting for the breakpoint. A starter that was launched without a tool fills its table and
/// may never call MPIR_Breakpoint.
struct await_table {
  std::uint64_t claimed = 0;  ///< MPIR_proctable_size
  std::uint64_t filled = 0;   ///< so many entries are complete
  /// There is no table, and the process has what only ranks have (an Open MPI rank maps the starter's library, and so
  /// has all of its symbols), or lacks the MPIR_i_am_starter of a starter that is none (9.10). Nothing was written and
  /// nothing is planted: look for the starter elsewhere. `look_again` on this target takes it for a starter after all.
  bool looks_like_rank = false;
};
/// The job has spawned, or grown, or is there already at the attach: here is the table (MPIR_DEBUG_SPAWNED).
struct report_processes {
  std::shared_ptr<const process_table> table;
};
/// The job aborts; the reason is empty where the starter gives none (MPIR_DEBUG_ABORTING).
struct report_abort {
  std::optional<std::string> reason;
};
/// The starter has raised the event that follows the launch of the tool's daemons (7.1, step 5). A starter that has
/// raised its event before, for another tool, may launch them and never say so.
struct report_daemons {};
/// Something is not as the document wants it, and the acquisition goes on: unknown state, a variable that cannot be
/// read, a table that does not fit or falls short (its shortfall; its fields' problems stay with the table), daemons
/// that cannot be asked for.
struct report_problem {
  error what;
};
using action =
    std::variant<plant_breakpoint, lift_breakpoint, write_memory, watch_variable, unwatch_variable, kick_fifo,
                 watch_modules, await_table, report_processes, report_abort, report_daemons, report_problem>;

/// What is known of the job beside its processes (MPIR 1.1, 9.10 to 9.17, and Slurm's and Flux's job ids).
struct job_facts {
  bool starter_is_rank = false;     ///< complete without MPIR_i_am_starter: the starter itself is rank 0
  bool acquired_pre_main = false;   ///< launched, the ranks have not entered main at the spawn event (9.11)
  bool force_to_main = false;       ///< show the source of main after the spawn event (9.12)
  bool partial_attach_ok = false;   ///< letting the starter go lets all ranks go (9.13)
  bool ignore_queues = false;       ///< no MPI: no message queues to show (9.14)
  bool can_launch_daemons = false;  ///< has the two variables of 7.1
  bool can_forward_output = false;  ///< has MPIR_forward_output: can pass the daemons' output on
  daemon_launch daemons = daemon_launch::not_asked;
  std::optional<std::string> attach_fifo;  ///< what MPIR_attach_fifo said when it was to be kicked
  std::optional<std::string> job_id;
  std::optional<std::string> step_id;
};

/// What an acquisition is to do beside the usual.
struct acquisition_options {
  table_limits limits;
  std::optional<daemon_request> daemons;
  /// Also watch MPIR_debug_state for writes. A starter built with link-time optimisation may have MPIR_Breakpoint
  /// inlined into its callers: its address then is never reached, and the write is all that there is to see.
  bool watch_debug_state = false;
};

/// How `look_again` takes a table whose starter has not said yet that it is complete.
enum class taking : std::uint8_t {
  when_complete,  ///< once MPIR_debug_state is MPIR_DEBUG_SPAWNED, or every field of every entry is filled
  as_it_is,       ///< whatever is there: for a caller whose patience ends here
};

/// The tool's half of the interface (MPIR 1.1, chapter 8). It drives nothing: it is told what happened, looks at the
/// target it is handed, and answers what to do. It keeps no reference to a target between calls, and each call's target
/// must be stopped.
///
/// Launch mode (6.1):
///   at_entry          -> the daemons' variables if asked for (7.1), being_debugged = 1, the breakpoint planted once
///                        all required symbols are there, else watch_modules. being_debugged is written as soon as it
///                        is there, but never before the daemons' variables.
/// Attach mode, in the order of chapter 8, steps 5 to 8:
///   at_attach         -> what is there already is reported (steps 5, 6), or await_table; the daemons' variables (7.1),
///                        being_debugged = 1 (7), the breakpoint (8), the FIFO kicked if there are daemons to launch
///                        (7.2). Symbols incomplete: watch_modules, and nothing is written into what may be no starter.
///   look_again        -> report_processes once the table is there, else await_table again. Nothing once it has been
///                        reported.
///   The table counts as there if MPIR_debug_state is 1, or 2 (then report_abort follows). With state 0 a starter may
///   be in the middle of filling it: srun sizes it before its tasks run. Then each field of each entry has to be good.
/// Both:
///   modules_changed   -> the same for what a library has added; nothing once the breakpoint is out
///   at_breakpoint     -> MPIR_NULL: nothing. SPAWNED: the table, unless it names the processes that were reported
///                        already. ABORTING: the reason, unless at_attach or at_state_written told it already.
///   at_state_written  -> the same, at a write of MPIR_debug_state; await_table where the table is not complete by then
///   before_detach     -> being_debugged = 0 (9.3), what stood in the daemons' variables put back, the breakpoint
///   lifted
///
/// The document does not say what becomes of the daemons' variables. They are put back because they would outlive us:
/// the next tool that writes being_debugged = 1 would have our daemons launched with its own arguments or none. For
/// the same reason at_attach empties a path that another tool has left, says so, and before_detach puts it back.
///
/// Who lets go of a launched starter before it has published its table had better leave being_debugged at 1: Open MPI's
/// ranks wait for a message that mpirun sends only while it is. `job` does.
///
/// Where a target cannot be written (`target::writer` is null: a core file), at_attach reports the table as it is, or a
/// problem if there is none, and asks for nothing to be done.
///
/// Symbols that are not there are no problem as long as a library may bring them: what to say in the end is in
/// `symbols()->missing()`. An integer variable has its symbol's size (a C int where that is 0); a string variable whose
/// symbol has another size than a pointer is an array. An error of a call means that the target cannot be read any more
/// (process_gone, permission) or its symbols cannot be; everything less is a report_problem among the actions.
///
/// An exec of the starter, launched or attached to, begins anew with `at_entry`.
class acquisition {
 public:
  explicit acquisition(acquisition_options options = {});
  ~acquisition();
  acquisition(acquisition&&) noexcept;
  acquisition& operator=(acquisition&&) noexcept;

  [[nodiscard]] result<std::vector<action>> at_entry(const target& starter);
  [[nodiscard]] result<std::vector<action>> at_attach(const target& starter);
  [[nodiscard]] result<std::vector<action>> look_again(const target& starter, taking how = taking::when_complete);
  [[nodiscard]] result<std::vector<action>> modules_changed(const target& starter);
  [[nodiscard]] result<std::vector<action>> at_breakpoint(const target& starter);
  [[nodiscard]] result<std::vector<action>> at_state_written(const target& starter);
  [[nodiscard]] result<std::vector<action>> before_detach(const target& starter);

  /// What was found at the last look; null before the first.
  [[nodiscard]] const symbol_set* symbols() const;
  /// Where the breakpoint belongs; empty while MPIR_Breakpoint is not found.
  [[nodiscard]] std::optional<target_address> breakpoint() const;
  /// The descriptor's layout, from the first table on: nobody needs it before.
  [[nodiscard]] const structure_layout* layout() const;
  /// The last table reported; null before.
  [[nodiscard]] std::shared_ptr<const process_table> table() const;
  /// Flags from the moment the symbols are found; ids from the moment the table is reported.
  [[nodiscard]] const job_facts& facts() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq::mpir
