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

/// Reads and encodes the interface's variables by the sizes of their symbols, because a starter without debug
/// information has no types.
namespace mpiacq::mpir {

/// The width of an integer variable: the symbol's size, or that of a C int if the symbol table gives none. Error:
/// bad_format (the size is not that of an integer: 1, 2, 4, 8).
[[nodiscard]] result<std::size_t> integer_width(const target_abi& abi, const symbol& variable);

[[nodiscard]] result<std::int64_t> read_integer(memory_reader& memory, const target_abi& abi, const symbol& variable);

/// A pointer variable's value. Error: bad_format (the symbol does not have the size of a pointer).
[[nodiscard]] result<target_address> read_pointer_variable(memory_reader& memory, const target_abi& abi,
                                                           const symbol& variable);

/// An integer variable's value as bytes to be written. Errors as `integer_width`.
[[nodiscard]] result<std::vector<std::byte>> integer_bytes(const target_abi& abi, const symbol& variable,
                                                           std::uint64_t value);

/// The string in an array of `capacity` bytes, up to its null, or all bytes of an array without a null. Empty for an
/// empty string.
[[nodiscard]] result<std::optional<std::string>> read_char_array(memory_reader& memory, const symbol& variable,
                                                                 std::size_t capacity);

/// A string variable, declared `char *s` or `char s[N]`: a symbol of a pointer's size, or of unknown size, is read as
/// a pointer, any other as an array. Empty if the pointer is null or the string is empty.
[[nodiscard]] result<std::optional<std::string>> read_string_variable(memory_reader& memory, const target_abi& abi,
                                                                      const symbol& variable);

}  // namespace mpiacq::mpir
