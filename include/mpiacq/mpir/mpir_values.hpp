// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The values of the variables of MPIR.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/mpir/mpir_symbols.hpp"

namespace mpiacq::mpir {

/// The value of one variable of the interface: an integer; the text of a string or character array up to its first
/// null, "" for a null pointer; or a pointer to something else.
struct variable_value {
  known id;
  std::variant<std::int64_t, std::string, target_address> value;
};

/// The values of all variables of a process.
struct variable_values {
  std::vector<variable_value> values;  ///< in the order of `known`, without functions, flags and arrays of integers
  std::vector<error> problems;  ///< for each variable that could not be read: unreadable_memory, bad_format, limit
};

/// Reads the variables in `symbols` (MPIR 1.1, 9.3 to 9.8, 9.15 to 9.17, and the known extensions). A string has at
/// most 32,768 bytes. Nothing is written.
[[nodiscard]] variable_values read_values(memory_reader& memory, const target_abi& abi, const symbol_set& symbols);

}  // namespace mpiacq::mpir
