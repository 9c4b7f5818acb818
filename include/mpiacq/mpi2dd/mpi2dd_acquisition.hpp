// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
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

/// The debugger's half of MPI2DD in one process, a starter or a rank: its breakpoint and its flags. The graph of the
/// job is walked beside it (mpi2dd_graph.hpp).
namespace mpiacq::mpi2dd {

// What the debugger has to do next. It does them in the order given, with whatever it controls processes with.
/// Put a breakpoint at an address of the process.
struct plant_breakpoint {
  target_address address;
};
/// Take it away again.
struct lift_breakpoint {
  target_address address;
};
/// Write `debugger_flags`: bytes already in the target's order.
struct write_flags {
  target_address address;
  std::vector<std::byte> bytes;
  flag_set<debugger_flag> flags;  ///< what they say
};
/// The symbols are not there yet: call `modules_changed` when a library has been mapped.
struct watch_modules {};
/// MPI2DD_breakpoint was called.
struct report_event {
  debug_state state = debug_state::none;
  /// This process's own tables that are others than at the last look, or that the event says have changed: what to
  /// `refresh`. START, SPAWN, CONNECT, ACCEPT and JOIN may have changed the tables of other processes.
  table_selection changed{false, false, false};
  std::optional<std::string> reason;  ///< ABORT: its string, where there is one
};
/// Something is not as the draft has it; the process is let go on all the same.
struct report_problem {
  error what;
};
using action =
    std::variant<plant_breakpoint, lift_breakpoint, write_flags, watch_modules, report_event, report_problem>;

/// Which half of the flags a process has to do with.
enum class part : std::uint8_t {
  starter,  ///< BEING_DEBUGGED
  rank      ///< BEING_DEBUGGED, and GATE once it has been taken hold of
};

struct acquisition_options {
  part of = part::starter;
  bool directory_events = true;  ///< set REQUEST_DIRECTORY_EVENTS
};

/// Drives nothing, owns nothing: it is told what happened, looks at the target it is handed, which must be stopped, and
/// answers what to do. It keeps no reference to a target between calls.
///
///   at_entry         -> the symbols are found before any instruction of the program has run: flags written, breakpoint
///                       planted; else watch_modules. An exec begins anew here.
///   at_attach        -> the same in a process that runs already
///   modules_changed  -> the same for what a library has added; nothing once the breakpoint is out
///   at_breakpoint    -> report_event; nothing for the state 0; report_problem for a state that the draft does not know
///   open_gate        -> GATE, once the rank has been taken hold of
///   being_debugged   -> BEING_DEBUGGED alone, set or cleared: who has started ranks has them wait at their gates by it
///   before_detach    -> BEING_DEBUGGED and REQUEST_DIRECTORY_EVENTS taken back; the gate of a rank opened, for nobody
///                       else would; the breakpoint lifted
///
/// All other bits of `debugger_flags` stay as they are found at each writing. Flags are written only into an info block
/// with the magic and a known version. Where a target cannot be written (a core file), there is nothing to do.
/// Errors of a call: the target cannot be read any more (process_gone, permission), or its symbols cannot be.
class acquisition {
 public:
  explicit acquisition(acquisition_options options = {});
  ~acquisition();
  acquisition(acquisition&&) noexcept;
  acquisition& operator=(acquisition&&) noexcept;

  [[nodiscard]] result<std::vector<action>> at_entry(const target& process);
  [[nodiscard]] result<std::vector<action>> at_attach(const target& process);
  [[nodiscard]] result<std::vector<action>> modules_changed(const target& process);
  [[nodiscard]] result<std::vector<action>> at_breakpoint(const target& process);
  [[nodiscard]] result<std::vector<action>> open_gate(const target& process);
  [[nodiscard]] result<std::vector<action>> being_debugged(const target& process, bool is_so);
  [[nodiscard]] result<std::vector<action>> before_detach(const target& process);

  /// Where the breakpoint belongs; empty while it is not planted.
  [[nodiscard]] std::optional<target_address> breakpoint() const;
  /// The info block at the last look that could read it.
  [[nodiscard]] const std::optional<info_block>& info() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq::mpi2dd
