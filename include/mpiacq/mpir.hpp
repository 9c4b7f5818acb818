// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "mpiacq/process_table.hpp"
#include "mpiacq/symbols.hpp"

/// The MPIR Process Acquisition Interface, version 1.1, seen from the tool's side.
namespace mpiacq::mpir {

/// Everything the interface and its known extensions define, in one list. The order is that of the table behind
/// `known_symbols()`.
enum class known : std::uint8_t {
  breakpoint,
  debug_state,
  proctable,
  proctable_size,
  being_debugged,
  debug_abort_string,
  i_am_starter,
  acquired_pre_main,
  force_to_main,
  partial_attach_ok,
  ignore_queues,
  executable_path,
  server_arguments,
  attach_fifo,
  debug_gate,
  totalview_jobid,
  totalview_stepid,
  forward_output,
  forward_comm,
  dll_name,
  subset_attach,
  breakpoint_pointer,
  debug_typedefs_sizeof,
  mpimsgq_dll_locations,
  mpidbg_dll_locations,
  count
};
inline constexpr std::size_t known_count = static_cast<std::size_t>(known::count);

enum class symbol_form : std::uint8_t { function, integer, integer_array, pointer, string_pointer, char_array, flag };
enum class found_in : std::uint8_t { starter, rank, both };
enum class written_by : std::uint8_t { starter, tool, rank, nobody };

/// What there is to know of one symbol of the interface.
struct known_symbol {
  known id;
  std::string_view name;            ///< as the document spells it
  std::string_view other_spelling;  ///< also accepted; empty where there is none
  std::string_view section;         ///< of the MPIR document ("9.6"), or what else defines it ("Slurm", "Open MPI")
  symbol_form form;
  found_in where;
  written_by writer;
  bool required;             ///< without it nothing can be acquired
  std::string_view meaning;  ///< one line, for people
};
[[nodiscard]] std::span<const known_symbol, known_count> known_symbols();

[[nodiscard]] std::string_view name(symbol_form form);  ///< "integer", "string pointer" ...
[[nodiscard]] std::string_view name(found_in where);    ///< "starter", "ranks", "both"
[[nodiscard]] std::string_view name(written_by who);    ///< "starter", "tool", "rank", "nobody"

/// The interface's symbols as a target defines them.
class symbol_set {
 public:
  [[nodiscard]] const std::optional<symbol>& operator[](known k) const { return found_[static_cast<std::size_t>(k)]; }
  [[nodiscard]] bool has(known k) const { return (*this)[k].has_value(); }
  /// MPIR_Breakpoint, MPIR_debug_state, MPIR_proctable and MPIR_proctable_size are all there.
  [[nodiscard]] bool complete() const;
  /// The names of the required ones that are not there.
  [[nodiscard]] std::vector<std::string_view> missing() const;

  void set(known k, symbol s) { found_[static_cast<std::size_t>(k)] = std::move(s); }

 private:
  std::array<std::optional<symbol>, known_count> found_;
};

/// Looks all of them up in one pass, by either spelling; the document's comes first. Errors as
/// `symbol_source::find_symbols`.
[[nodiscard]] result<symbol_set> find_symbols(symbol_source& symbols);

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
/// The symbols are not there yet: call `modules_changed` when a library has been mapped.
struct watch_modules {};
/// The job has spawned, or grown: here is the table (MPIR_DEBUG_SPAWNED).
struct report_processes {
  std::shared_ptr<const process_table> table;
};
/// The job aborts; the reason is empty where the starter gives none (MPIR_DEBUG_ABORTING).
struct report_abort {
  std::optional<std::string> reason;
};
/// Something is not as the document wants it, and the acquisition goes on: unknown state, a variable that cannot be
/// read, a table that does not fit or falls short (its shortfall; its fields' problems stay with the table).
struct report_problem {
  error what;
};
using action = std::variant<plant_breakpoint, lift_breakpoint, write_memory, watch_modules, report_processes,
                            report_abort, report_problem>;

/// What is known of the job beside its processes (MPIR 1.1, 9.10 to 9.14, and Slurm's and Flux's job ids).
struct job_facts {
  bool starter_is_rank = false;  ///< complete without MPIR_i_am_starter: the starter itself is rank 0
  bool acquired_pre_main = false;
  bool force_to_main = false;
  bool partial_attach_ok = false;
  bool ignore_queues = false;
  std::optional<std::string> job_id;
  std::optional<std::string> step_id;
};

/// The tool's half of the interface in launch mode (MPIR 1.1, chapter 8). It drives nothing: it is told what happened,
/// looks at the target it is handed, and answers what to do. It keeps no reference to a target between calls, and each
/// call's target must be stopped.
///
///   at_entry          -> write being_debugged = 1 as soon as it is there, plant the breakpoint once all required
///                        symbols are, else watch_modules
///   modules_changed   -> the same for what a library has added; nothing once the breakpoint is out
///   at_breakpoint     -> MPIR_NULL: nothing. SPAWNED: the table, unless it names the processes that were reported
///                        already. ABORTING: the reason.
///   before_detach     -> being_debugged = 0 (9.3), the breakpoint lifted
///
/// Symbols that are not there are no problem as long as a library may bring them: what to say in the end is in
/// `symbols()->missing()`. An integer variable has its symbol's size (a C int where that is 0); a string variable whose
/// symbol has another size than a pointer is an array. An error of a call means that the target cannot be read any more
/// (process_gone, permission) or its symbols cannot be; everything less is a report_problem among the actions.
///
/// An exec of the starter begins anew with `at_entry`.
class acquisition {
 public:
  explicit acquisition(table_limits limits = {});
  ~acquisition();
  acquisition(acquisition&&) noexcept;
  acquisition& operator=(acquisition&&) noexcept;

  [[nodiscard]] result<std::vector<action>> at_entry(const target& starter);
  [[nodiscard]] result<std::vector<action>> modules_changed(const target& starter);
  [[nodiscard]] result<std::vector<action>> at_breakpoint(const target& starter);
  [[nodiscard]] result<std::vector<action>> before_detach(const target& starter);

  /// What was found at the last look; null before the first.
  [[nodiscard]] const symbol_set* symbols() const;
  /// Where the breakpoint belongs; empty while MPIR_Breakpoint is not found.
  [[nodiscard]] std::optional<target_address> breakpoint() const;
  /// The descriptor's layout, from the first table on: nobody needs it before.
  [[nodiscard]] const structure_layout* layout() const;
  /// The last table reported; null before.
  [[nodiscard]] std::shared_ptr<const process_table> table() const;
  /// Flags from the moment the symbols are found; ids from the moment of the spawn.
  [[nodiscard]] const job_facts& facts() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace mpiacq::mpir
