// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "mpiacq/check/check.hpp"

namespace mpiacq::check {

/// "volatile int", "MPIR_PROCDESC *", "char [256]"
[[nodiscard]] std::string type_text(const variable_type& type);

/// Whether a symbol is what the document defines it as: by its declaration where debug information tells it, else by
/// its kind and size. `array_size`: of a character array, as the document has it; more is allowed.
[[nodiscard]] finding judge_form(const seen_symbol& symbol, mpir::symbol_form form, const target_abi& abi,
                                 std::uint64_t array_size = 0);

/// The same for a symbol of the starter. Absent: a failure only where it is required.
[[nodiscard]] finding judge_definition(const observations& o, mpir::known k, std::uint64_t array_size = 0);

}  // namespace mpiacq::check
