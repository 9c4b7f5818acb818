// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The state machine of MPI2DD for one process, a starter or a rank: its breakpoint and its flags. The graph of the job
/// is walked separately (mpi2dd_graph.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"
#include "mpiacq/mpi2dd/mpi2dd_graph.hpp"
#include "mpiacq/mpi2dd/mpi2dd_info.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq::mpi2dd {

// The actions: what the debugger does next, in the order given, with its own process control.

/// Insert a breakpoint at an address of the process.
struct plant_breakpoint {
  target_address address;
};
/// Remove the breakpoint at an address.
struct lift_breakpoint {
  target_address address;
};
/// Write `debugger_flags`: the bytes are in the order of the target.
struct write_flags {
  target_address address;
  std::vector<std::byte> bytes;
  flag_set<debugger_flag> flags;  ///< the flags that the bytes encode
};
/// The symbols are missing: call `modules_changed` when a library has been mapped.
struct watch_modules {};
/// The process has called MPI2DD_breakpoint.
struct report_event {
  debug_state state = debug_state::none;
  /// The tables of this process that differ from the last look, or that the event names as changed: pass them to
  /// `refresh`. START, SPAWN, CONNECT, ACCEPT and JOIN may have changed the tables of other processes too.
  table_selection changed{false, false, false};
  std::optional<std::string> reason;  ///< ABORT: its reason, if there is one
};
/// Something is not as the draft requires. Let the process go on nevertheless.
struct report_problem {
  error what;
};
/// One thing that the debugger has to do.
using action =
    std::variant<plant_breakpoint, lift_breakpoint, write_flags, watch_modules, report_event, report_problem>;

/// Which flags are written into a process.
enum class part : std::uint8_t {
  starter,  ///< BEING_DEBUGGED
  rank      ///< BEING_DEBUGGED, and GATE once the rank has been acquired
};

/// How a process is acquired.
struct acquisition_options {
  part of = part::starter;
  bool directory_events = true;  ///< also set REQUEST_DIRECTORY_EVENTS
};

/// The debugger's half of MPI2DD in one process. It controls no process and owns nothing: the debugger tells it what
/// happened and passes the stopped target, and it answers what to do. It keeps no reference to a target between calls.
///
/// @verbatim
///   at_entry         -> the flags and the breakpoint if the symbols exist, else watch_modules. An exec begins anew
///   here. at_attach        -> the same in a running process modules_changed  -> the same for symbols of a new library;
///   nothing once the breakpoint is planted at_breakpoint    -> report_event; nothing for state 0; report_problem for a
///   state that the draft does not define open_gate        -> GATE, once the rank has been acquired being_debugged   ->
///   BEING_DEBUGGED alone, set or cleared: it tells a starter or parent whether new ranks wait at gates before_detach
///   -> BEING_DEBUGGED and REQUEST_DIRECTORY_EVENTS cleared; the gate of a rank opened; lift_breakpoint
/// @endverbatim
///
/// All other bits of `debugger_flags` stay as they are at each write. Flags are written only into an info block with
/// the magic and a known version. If a target cannot be written (a core file), the answers are empty.
///
/// Errors of all calls: the target cannot be read any more (process_gone, permission), or its symbols cannot be read.
/// Thread: one at a time.
class acquisition {
 public:
  /// A state machine for one process.
  explicit acquisition(acquisition_options options = {});
  ~acquisition();
  acquisition(acquisition&&) noexcept;
  acquisition& operator=(acquisition&&) noexcept;

  /// The launched process is at its entry point (AT_ENTRY).
  [[nodiscard]] result<std::vector<action>> at_entry(const target& process);
  /// The debugger has attached to a running process.
  [[nodiscard]] result<std::vector<action>> at_attach(const target& process);
  /// A library was mapped since a watch_modules.
  [[nodiscard]] result<std::vector<action>> modules_changed(const target& process);
  /// A thread has reached the breakpoint.
  [[nodiscard]] result<std::vector<action>> at_breakpoint(const target& process);
  /// The debugger has acquired this rank, which may leave MPI_Init.
  [[nodiscard]] result<std::vector<action>> open_gate(const target& process);
  /// Sets or clears BEING_DEBUGGED.
  [[nodiscard]] result<std::vector<action>> being_debugged(const target& process, bool is_so);
  /// The debugger is about to detach.
  [[nodiscard]] result<std::vector<action>> before_detach(const target& process);

  /// The address of the breakpoint; empty while it is not planted.
  [[nodiscard]] std::optional<target_address> breakpoint() const;
  /// The info block, as read last.
  [[nodiscard]] const std::optional<info_block>& info() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// What opens the gate of a rank that no state machine follows (MPI2DD, GATE of `debugger_flags`): one write, or none
/// if the gate is open. Empty: the process has no info block. Errors: as the calls of `acquisition`, and bad_format (a
/// faulty block). Thread: any, one at a time for a target.
[[nodiscard]] result<std::optional<std::vector<write_flags>>> gate_of_rank(const target& process);

}  // namespace mpiacq::mpi2dd
