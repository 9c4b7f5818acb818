// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "mpiacq/base/memory.hpp"
#include "mpiacq/check/check_observations.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"
#include "mpiacq/process/process_symbols.hpp"

/// Reads out of the stopped starter what the clauses judge. Nothing is written.
namespace mpiacq::check {

/// A symbol with its declaration; `near`: see `symbol_source::type_of`.
[[nodiscard]] seen_symbol as_seen(symbol_source& symbols, const symbol& s, const symbol* near);

/// An integer of its symbol's size (a C int where that is 0).
[[nodiscard]] std::optional<std::int64_t> read_integer(memory_reader& memory, const target_abi& abi, const symbol& s);

[[nodiscard]] definitions_seen look_at_definitions(process_symbols& symbols, memory_reader& memory,
                                                   const mpir::symbol_set& found);
[[nodiscard]] values_seen look_at_values(const target& starter, const mpir::symbol_set& found);
/// At MPIR_Breakpoint; at any other moment the table is looked at whatever MPIR_debug_state says.
enum class moment : std::uint8_t { at_breakpoint, at_attach };
[[nodiscard]] stop_seen look_at_stop(const target& starter, const mpir::symbol_set& found,
                                     const definitions_seen& defined, moment when);
/// A character array's text; empty where there is none. Reads at most the symbol's size.
[[nodiscard]] std::optional<std::string> read_array_text(const target& starter, const std::optional<symbol>& s);

}  // namespace mpiacq::check
