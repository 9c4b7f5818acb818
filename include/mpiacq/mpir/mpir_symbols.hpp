// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "mpiacq/process/symbols.hpp"

/// The MPIR Process Acquisition Interface, version 1.1: the names by which a program offers it.
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
  std::uint16_t elements;  ///< of an array, as its definition has it; 0 for all others. A symbol's size goes before it
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

/// What there is to know of one of them.
[[nodiscard]] const known_symbol& about(known k);

}  // namespace mpiacq::mpir
