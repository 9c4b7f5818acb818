// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <array>

#include "errors/try.hpp"
#include "mpiacq/mpir/mpir_symbols.hpp"

namespace mpiacq::mpir {

namespace {

using enum symbol_form;

constexpr std::array<known_symbol, known_count> known_symbol_list = {{
    {known::breakpoint, "MPIR_Breakpoint", "", "9.9", function, 0, found_in::starter, written_by::nobody, true,
     "called by the starter to raise an event; the tool's breakpoint belongs here"},
    {known::debug_state, "MPIR_debug_state", "", "9.6", integer, 0, found_in::starter, written_by::starter, true,
     "what the event is: 0 none, 1 the processes were spawned, 2 the job aborts"},
    {known::proctable, "MPIR_proctable", "", "9.4", pointer, 0, found_in::starter, written_by::starter, true,
     "the process table: an array of process descriptors, the index is the rank"},
    {known::proctable_size, "MPIR_proctable_size", "", "9.5", integer, 0, found_in::starter, written_by::starter, true,
     "the number of entries of the process table"},
    {known::being_debugged, "MPIR_being_debugged", "", "9.3", integer, 0, found_in::both, written_by::tool, false,
     "1 while a tool is attached: makes the starter publish the table and hold the ranks"},
    {known::debug_abort_string, "MPIR_debug_abort_string", "", "9.7", string_pointer, 0, found_in::starter,
     written_by::starter, false, "why the job aborts, for people"},
    {known::i_am_starter, "MPIR_i_am_starter", "MPIR_I_am_starter", "9.10", flag, 0, found_in::starter,
     written_by::nobody, false, "the starter is not itself a rank"},
    {known::acquired_pre_main, "MPIR_acquired_pre_main", "", "9.11", flag, 0, found_in::starter, written_by::nobody,
     false, "at the spawn event the ranks have not entered main yet"},
    {known::force_to_main, "MPIR_force_to_main", "", "9.12", flag, 0, found_in::starter, written_by::nobody, false,
     "the tool should show the source of main after the spawn event"},
    {known::partial_attach_ok, "MPIR_partial_attach_ok", "", "9.13", flag, 0, found_in::starter, written_by::nobody,
     false, "releasing the starter releases all ranks: the tool need not attach to each"},
    {known::ignore_queues, "MPIR_ignore_queues", "MPIR_Ignore_queues", "9.14", flag, 0, found_in::both,
     written_by::nobody, false,
     "message queues should not be shown; Open MPI's queue library looks for it in the ranks"},
    {known::executable_path, "MPIR_executable_path", "", "9.15", char_array, 256, found_in::starter, written_by::tool,
     false, "the tool's daemon that the starter is to launch"},
    {known::server_arguments, "MPIR_server_arguments", "", "9.16", char_array, 1024, found_in::starter,
     written_by::tool, false, "the daemon's arguments, each null-terminated, ended by an empty one"},
    {known::attach_fifo, "MPIR_attach_fifo", "", "9.17", char_array, 256, found_in::starter, written_by::starter, false,
     "a FIFO: a byte 1 makes the starter look at MPIR_being_debugged"},
    {known::debug_gate, "MPIR_debug_gate", "", "9.8", integer, 0, found_in::rank, written_by::tool, false,
     "set to 1 to let a held rank go on"},
    {known::totalview_jobid, "totalview_jobid", "", "Slurm, Flux", string_pointer, 0, found_in::starter,
     written_by::starter, false, "the resource manager's id of the job"},
    {known::totalview_stepid, "totalview_stepid", "", "Slurm", string_pointer, 0, found_in::starter,
     written_by::starter, false, "the resource manager's id of the step within the job"},
    {known::forward_output, "MPIR_forward_output", "", "Open MPI", integer, 0, found_in::starter, written_by::tool,
     false, "not 0: the output of the tool's daemons is forwarded"},
    {known::forward_comm, "MPIR_forward_comm", "", "Open MPI", integer, 0, found_in::starter, written_by::tool, false,
     "not 0: the starter forwards communication between the tool and its daemons"},
    {known::dll_name, "MPIR_dll_name", "", "MPICH attach note", char_array, 0, found_in::both, written_by::rank, false,
     "in a rank: the path of the message-queue library; one starter has a char* of this name that is no path"},
    {known::subset_attach, "MPIR_subset_attach", "", "Blue Gene/Q", char_array, 4096, found_in::starter,
     written_by::tool, false, "the ranks that the tool wants to attach to"},
    {known::breakpoint_pointer, "MPIR_breakpointFn", "", "MPICH", pointer, 0, found_in::starter, written_by::starter,
     false, "through this pointer the starter calls MPIR_Breakpoint"},
    {known::debug_typedefs_sizeof, "MPIR_debug_typedefs_sizeof", "", "Open MPI", integer_array, 7, found_in::rank,
     written_by::rank, false, "the sizes of short, int, long, long long, void*, bool and size_t"},
    {known::mpimsgq_dll_locations, "mpimsgq_dll_locations", "", "Open MPI", pointer, 0, found_in::rank,
     written_by::rank, false, "char**: where message-queue libraries are, ended by a null pointer"},
    {known::mpidbg_dll_locations, "mpidbg_dll_locations", "", "Open MPI", pointer, 0, found_in::rank, written_by::rank,
     false, "char**: where libraries for handles are, ended by a null pointer"},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < known_symbol_list.size(); ++i) {
    if (known_symbol_list[i].id != static_cast<known>(i)) return false;
  }
  return true;
}
static_assert(in_order(), "the table stands in the order of `known`");

}  // namespace

std::span<const known_symbol, known_count> known_symbols() {
  return known_symbol_list;
}

const known_symbol& about(known k) {
  return known_symbol_list[static_cast<std::size_t>(k)];
}

std::string_view name(symbol_form form) {
  constexpr std::array<std::string_view, 7> names = {"function",       "integer",    "integer array", "pointer",
                                                     "string pointer", "char array", "flag"};
  return names[static_cast<std::size_t>(form)];
}

std::string_view name(found_in where) {
  constexpr std::array<std::string_view, 3> names = {"starter", "ranks", "both"};
  return names[static_cast<std::size_t>(where)];
}

std::string_view name(written_by who) {
  constexpr std::array<std::string_view, 4> names = {"starter", "tool", "rank", "nobody"};
  return names[static_cast<std::size_t>(who)];
}

bool symbol_set::complete() const {
  return missing().empty();
}

std::vector<std::string_view> symbol_set::missing() const {
  std::vector<std::string_view> names;
  for (const known_symbol& s : known_symbol_list) {
    if (s.required && !has(s.id)) names.push_back(s.name);
  }
  return names;
}

namespace {

/// Looks up the symbols that `set` lacks, in every spelling.
result<void> add_missing(symbol_set& set, symbol_source& symbols, const symbol_scope& scope) {
  std::vector<std::string_view> names;
  std::vector<known> ids;
  for (const known_symbol& s : known_symbol_list) {
    if (set.has(s.id)) continue;
    names.push_back(s.name);
    ids.push_back(s.id);
    if (s.other_spelling.empty()) continue;
    names.push_back(s.other_spelling);
    ids.push_back(s.id);
  }
  auto found = TRY(symbols.look_up(names, scope));
  for (std::size_t i = 0; i < ids.size() && i < found.size(); ++i) {
    if (found[i] && !set.has(ids[i])) set.set(ids[i], std::move(*found[i]));
  }
  return {};
}

}  // namespace

result<symbol_set> find_symbols(symbol_source& symbols) {
  symbol_set set;
  TRY(add_missing(set, symbols, {.loaded_only = true}));
  // Most programs lack most optional symbols. A search in the files of seventy libraries would take longer than the
  // rest of a launch. A starter that does not export its symbols defines them in the module of its breakpoint.
  symbol_scope rest;
  if (set.complete()) rest.only_in = set[known::breakpoint]->home.get();
  TRY(add_missing(set, symbols, rest));
  return set;
}

}  // namespace mpiacq::mpir
