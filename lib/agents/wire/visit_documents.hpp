// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Accounts of MPI2DD processes in documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "mpiacq/mpi2dd/mpi2dd_reading.hpp"
#include "wire/document.hpp"
#include "wire/process_accounts.hpp"

namespace mpiacq::agents {

/// A state of the draft, or any other byte.
template <>
struct stand_in<mpi2dd::debug_state> {
  using type = std::uint8_t;
  [[nodiscard]] static std::uint8_t to(mpi2dd::debug_state state) { return static_cast<std::uint8_t>(state); }
  [[nodiscard]] static result<mpi2dd::debug_state> from(std::uint8_t byte) { return mpi2dd::debug_state{byte}; }
};
template <class Flag>
struct stand_in<mpi2dd::flag_set<Flag>> {
  using type = std::uint32_t;
  [[nodiscard]] static std::uint32_t to(mpi2dd::flag_set<Flag> flags) { return flags.bits(); }
  [[nodiscard]] static result<mpi2dd::flag_set<Flag>> from(std::uint32_t bits) { return mpi2dd::flag_set<Flag>{bits}; }
};

template <>
inline constexpr auto last_of<mpi2dd::visit_state> = mpi2dd::visit_state::beyond_limit;
template <>
inline constexpr auto last_of<mpi2dd::table_field> = mpi2dd::table_field::sequence;
template <>
inline constexpr auto last_of<mpi2dd::entry_fault> = mpi2dd::entry_fault::impossible_number;
template <>
inline constexpr auto last_of<layout_source> = layout_source::fixed;

}  // namespace mpiacq::agents

namespace mpiacq {

template <>
inline constexpr auto members<mpi2dd::table_selection> =
    std::tuple{member{"processes", &mpi2dd::table_selection::processes},
               member{"directories", &mpi2dd::table_selection::directories},
               member{"metadirectories", &mpi2dd::table_selection::metadirectories}};
template <>
inline constexpr auto members<table_limits> = std::tuple{
    member{"max_entries", &table_limits::max_entries}, member{"max_string_bytes", &table_limits::max_string_bytes},
    member{"max_string_bytes_in_all", &table_limits::max_string_bytes_in_all},
    member{"max_problems", &table_limits::max_problems}};
template <>
inline constexpr auto members<mpi2dd::entry_problem> =
    std::tuple{member{"entry", &mpi2dd::entry_problem::entry},   member{"field", &mpi2dd::entry_problem::field},
               member{"fault", &mpi2dd::entry_problem::fault},   member{"address", &mpi2dd::entry_problem::address},
               member{"at", &mpi2dd::entry_problem::stopped_at}, member{"value", &mpi2dd::entry_problem::value}};
template <>
inline constexpr auto members<mpi2dd::table_facts> = std::tuple{
    member{"address", &mpi2dd::table_facts::address}, member{"claimed", &mpi2dd::table_facts::claimed},
    member{"problems", &mpi2dd::table_facts::problems}, member{"problem_count", &mpi2dd::table_facts::problem_count},
    member{"shortfall", &mpi2dd::table_facts::shortfall}};
template <>
inline constexpr auto members<mpi2dd::entry_stride> =
    std::tuple{member{"bytes", &mpi2dd::entry_stride::bytes}, member{"source", &mpi2dd::entry_stride::source},
               member{"why", &mpi2dd::entry_stride::why}};
template <>
inline constexpr auto members<agents::spawn_columns> =
    std::tuple{member{"worlds", &agents::spawn_columns::worlds}, member{"ranks", &agents::spawn_columns::ranks},
               member{"sequences", &agents::spawn_columns::sequences}};
template <>
inline constexpr auto members<agents::process_table_part> =
    std::tuple{member{"hosts", &agents::process_table_part::hosts},
               member{"executables", &agents::process_table_part::executables},
               member{"worlds", &agents::process_table_part::worlds},
               member{"spawns", &agents::process_table_part::spawns},
               member{"pids", &agents::process_table_part::pids},
               member{"ranks", &agents::process_table_part::ranks},
               member{"spawned_by", &agents::process_table_part::spawned_by},
               member{"strings", &agents::process_table_part::strings},
               member{"facts", &agents::process_table_part::facts}};
template <>
inline constexpr auto members<agents::directory_table_part> =
    std::tuple{member{"hosts", &agents::directory_table_part::hosts},
               member{"executables", &agents::directory_table_part::executables},
               member{"pids", &agents::directory_table_part::pids},
               member{"strings", &agents::directory_table_part::strings},
               member{"facts", &agents::directory_table_part::facts},
               member{"stride", &agents::directory_table_part::stride}};
template <class Table>
inline constexpr auto members<agents::table_reading_part<Table>> =
    std::tuple{member{"entries", &agents::table_reading_part<Table>::entries},
               member{"failure", &agents::table_reading_part<Table>::failure}};
template <>
inline constexpr auto members<mpi2dd::info_block> =
    std::tuple{member{"version", &mpi2dd::info_block::version},
               member{"variant", &mpi2dd::info_block::variant},
               member{"state", &mpi2dd::info_block::state},
               member{"debugger_flags", &mpi2dd::info_block::debugger_flags},
               member{"mpi_flags", &mpi2dd::info_block::mpi_flags},
               member{"dll_name_32", &mpi2dd::info_block::dll_name_32},
               member{"dll_name_64", &mpi2dd::info_block::dll_name_64},
               member{"meta_host_name", &mpi2dd::info_block::meta_host_name},
               member{"meta_executable_name", &mpi2dd::info_block::meta_executable_name},
               member{"abort_string", &mpi2dd::info_block::abort_string},
               member{"proctable", &mpi2dd::info_block::proctable},
               member{"directory_table", &mpi2dd::info_block::directory_table},
               member{"metadirectory_table", &mpi2dd::info_block::metadirectory_table},
               member{"proctable_size", &mpi2dd::info_block::proctable_size},
               member{"directory_size", &mpi2dd::info_block::directory_size},
               member{"metadirectory_size", &mpi2dd::info_block::metadirectory_size},
               member{"meta_pid", &mpi2dd::info_block::meta_pid},
               member{"padding", &mpi2dd::info_block::padding}};
template <>
inline constexpr auto members<mpi2dd::process_info> =
    std::tuple{member{"address", &mpi2dd::process_info::address},
               member{"block", &mpi2dd::process_info::block},
               member{"queue_library_32", &mpi2dd::process_info::queue_library_32},
               member{"queue_library_64", &mpi2dd::process_info::queue_library_64},
               member{"meta_host", &mpi2dd::process_info::meta_host},
               member{"meta_executable", &mpi2dd::process_info::meta_executable},
               member{"abort_reason", &mpi2dd::process_info::abort_reason},
               member{"warnings", &mpi2dd::process_info::warnings}};
template <>
inline constexpr auto members<agents::account_part> =
    std::tuple{member{"state", &agents::account_part::state},
               member{"failure", &agents::account_part::failure},
               member{"info", &agents::account_part::info},
               member{"processes", &agents::account_part::processes},
               member{"directories", &agents::account_part::directories},
               member{"metadirectories", &agents::account_part::metadirectories},
               member{"rereads", &agents::account_part::rereads},
               member{"unsettled", &agents::account_part::unsettled},
               member{"own_names", &agents::account_part::own_names}};

}  // namespace mpiacq
