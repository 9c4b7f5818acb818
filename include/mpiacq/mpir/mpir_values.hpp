// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/mpir/mpir_symbols.hpp"

namespace mpiacq::mpir {

/// What a variable of the interface contains: an integer; the text of a string or character array, without what follows
/// its first null, "" for a null pointer; or a pointer to something else.
struct variable_value {
  known id;
  std::variant<std::int64_t, std::string, target_address> value;
};

struct variable_values {
  std::vector<variable_value> values;  ///< in the order of `known`; none for functions, flags and arrays of integers
  std::vector<error> problems;  ///< for each variable that could not be read: unreadable_memory, bad_format, limit
};

/// Reads the variables that `symbols` found in a process (MPIR 1.1, 9.3 to 9.8, 9.15 to 9.17, and the known
/// extensions). A string has at most 32,768 bytes. Nothing is written.
[[nodiscard]] variable_values read_values(memory_reader& memory, const target_abi& abi, const symbol_set& symbols);

}  // namespace mpiacq::mpir
