// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "mpiacq/mpi2dd/mpi2dd_info.hpp"

namespace mpiacq::mpi2dd {

namespace {

constexpr std::array<named<debug_state>, 8> state_rows = {{
    {debug_state::start, "MPI2DD_DEBUG_START"},
    {debug_state::spawn, "MPI2DD_DEBUG_SPAWN"},
    {debug_state::connect, "MPI2DD_DEBUG_CONNECT"},
    {debug_state::accept, "MPI2DD_DEBUG_ACCEPT"},
    {debug_state::join, "MPI2DD_DEBUG_JOIN"},
    {debug_state::directory_changed, "MPI2DD_DEBUG_DIRECTORY_CHANGED"},
    {debug_state::metadirectory_changed, "MPI2DD_DEBUG_METADIRECTORY_CHANGED"},
    {debug_state::abort, "MPI2DD_DEBUG_ABORT"},
}};

constexpr std::array<named<debugger_flag>, 3> debugger_rows = {{
    {debugger_flag::gate, "MPI2DD_FLAG_GATE"},
    {debugger_flag::being_debugged, "MPI2DD_FLAG_BEING_DEBUGGED"},
    {debugger_flag::request_directory_events, "MPI2DD_FLAG_REQUEST_DIRECTORY_EVENTS"},
}};

constexpr std::array<named<mpi_flag>, 7> mpi_rows = {{
    {mpi_flag::i_am_metadir, "MPI2DD_MPIFLAG_I_AM_METADIR"},
    {mpi_flag::i_am_dir, "MPI2DD_MPIFLAG_I_AM_DIR"},
    {mpi_flag::i_am_starter, "MPI2DD_MPIFLAG_I_AM_STARTER"},
    {mpi_flag::force_to_main, "MPI2DD_MPIFLAG_FORCE_TO_MAIN"},
    {mpi_flag::ignore_queue, "MPI2DD_MPIFLAG_IGNORE_QUEUE"},
    {mpi_flag::acquired_pre_main, "MPI2DD_MPIFLAG_ACQUIRED_PRE_MAIN"},
    {mpi_flag::partial_attach_ok, "MPI2DD_MPIFLAG_PARTIAL_ATTACH_OK"},
}};

template <class Value>
std::string_view name_in(std::span<const named<Value>> rows, Value value) {
  for (const named<Value>& row : rows) {
    if (row.value == value) return row.name;
  }
  return {};
}

template <class Flag>
std::uint32_t unknown_in(std::span<const named<Flag>> rows, flag_set<Flag> flags) {
  for (const named<Flag>& row : rows) flags = flags.without(row.value);
  return flags.bits();
}

template <class Flag>
std::string text_of(std::span<const named<Flag>> rows, flag_set<Flag> flags) {
  std::string words;
  const auto add = [&](std::string_view word) { words.append(words.empty() ? "" : " | ").append(word); };
  for (const named<Flag>& row : rows) {
    if (flags.has(row.value)) add(row.name);
  }
  if (const std::uint32_t others = unknown_in(rows, flags); others != 0) add(fmt::format("{:#x}", others));
  return words.empty() ? "0" : words;
}

}  // namespace

std::span<const named<debug_state>> debug_states() {
  return state_rows;
}
std::span<const named<debugger_flag>> debugger_flags() {
  return debugger_rows;
}
std::span<const named<mpi_flag>> mpi_flags() {
  return mpi_rows;
}

std::string_view name(debug_state state) {
  return name_in(debug_states(), state);
}
std::string_view name(debugger_flag flag) {
  return name_in(debugger_flags(), flag);
}
std::string_view name(mpi_flag flag) {
  return name_in(mpi_flags(), flag);
}

std::uint32_t unknown_bits(flag_set<debugger_flag> flags) {
  return unknown_in(debugger_flags(), flags);
}
std::uint32_t unknown_bits(flag_set<mpi_flag> flags) {
  return unknown_in(mpi_flags(), flags);
}
std::string text(flag_set<debugger_flag> flags) {
  return text_of(debugger_flags(), flags);
}
std::string text(flag_set<mpi_flag> flags) {
  return text_of(mpi_flags(), flags);
}

}  // namespace mpiacq::mpi2dd
