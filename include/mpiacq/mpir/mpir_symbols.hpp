// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The names by which a program offers MPIR.
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

namespace mpiacq::mpir {

/// Every symbol of the interface and of its known extensions, in the order of `known_symbols`.
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

/// What a symbol of the interface is in C.
enum class symbol_form : std::uint8_t { function, integer, integer_array, pointer, string_pointer, char_array, flag };
/// Which processes define a symbol.
enum class found_in : std::uint8_t { starter, rank, both };
/// Which process writes a variable.
enum class written_by : std::uint8_t { starter, tool, rank, nobody };

/// One symbol of the interface.
struct known_symbol {
  known id;
  std::string_view name;            ///< in the spelling of the document
  std::string_view other_spelling;  ///< another accepted spelling; empty if there is none
  std::string_view
      section;  ///< the section of the MPIR document ("9.6"), or the software that defines it ("Slurm", "Open MPI")
  symbol_form form;
  std::uint16_t
      elements;  ///< of an array by its definition, else 0. The size of a symbol in a program takes precedence
  found_in where;
  written_by writer;
  bool required;             ///< no job can be acquired without it
  std::string_view meaning;  ///< one line, for people
};
/// All symbols of the interface. The page docs/symbols.md is made from this table.
[[nodiscard]] std::span<const known_symbol, known_count> known_symbols();

[[nodiscard]] std::string_view name(symbol_form form);  ///< "integer", "string pointer" ...
[[nodiscard]] std::string_view name(found_in where);    ///< "starter", "ranks", "both"
[[nodiscard]] std::string_view name(written_by who);    ///< "starter", "tool", "rank", "nobody"

/// The symbols of the interface that a target defines.
class symbol_set {
 public:
  /// The definition of a symbol; empty if the target does not define it.
  [[nodiscard]] const std::optional<symbol>& operator[](known k) const { return found_[static_cast<std::size_t>(k)]; }
  /// Whether the target defines a symbol.
  [[nodiscard]] bool has(known k) const { return (*this)[k].has_value(); }
  /// Whether MPIR_Breakpoint, MPIR_debug_state, MPIR_proctable and MPIR_proctable_size are all defined.
  [[nodiscard]] bool complete() const;
  /// The names of the required symbols that are not defined.
  [[nodiscard]] std::vector<std::string_view> missing() const;

  /// Sets the definition of a symbol.
  void set(known k, symbol s) { found_[static_cast<std::size_t>(k)] = std::move(s); }

 private:
  std::array<std::optional<symbol>, known_count> found_;
};

/// Looks all symbols up in one pass, in either spelling; the spelling of the document takes precedence. Errors as
/// `symbol_source::find_symbols`.
[[nodiscard]] result<symbol_set> find_symbols(symbol_source& symbols);

/// The row of one symbol.
[[nodiscard]] const known_symbol& about(known k);

}  // namespace mpiacq::mpir
