// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/abi.hpp"
#include "mpiacq/base/memory.hpp"
#include "mpiacq/process/symbols.hpp"

/// The interface's variables in a target, by what their symbols say. Starters without debug information tell no types,
/// but the symbol table has sizes.
namespace mpiacq::mpir {

/// The width of an integer variable: the symbol's size, a C int where the symbol table says nothing. bad_format where
/// the size is none of an integer (1, 2, 4, 8).
[[nodiscard]] result<std::size_t> integer_width(const target_abi& abi, const symbol& variable);

[[nodiscard]] result<std::int64_t> read_integer(memory_reader& memory, const target_abi& abi, const symbol& variable);

/// A pointer variable's value. bad_format where the symbol has another size than a pointer.
[[nodiscard]] result<target_address> read_pointer_variable(memory_reader& memory, const target_abi& abi,
                                                           const symbol& variable);

/// An integer variable's value as bytes to be written. Errors as `integer_width`.
[[nodiscard]] result<std::vector<std::byte>> integer_bytes(const target_abi& abi, const symbol& variable,
                                                           std::uint64_t value);

/// The string in an array of `capacity` bytes, up to its null or, in a full one, all of it. Empty where it is empty.
[[nodiscard]] result<std::optional<std::string>> read_char_array(memory_reader& memory, const symbol& variable,
                                                                 std::size_t capacity);

/// A string variable, declared `char *s` or `char s[N]`: a symbol of a pointer's size, or of unknown size, is taken for
/// a pointer, any other for an array. Empty where the pointer is null or the string is empty.
[[nodiscard]] result<std::optional<std::string>> read_string_variable(memory_reader& memory, const target_abi& abi,
                                                                      const symbol& variable);

}  // namespace mpiacq::mpir
