// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include "mpiacq/mpir/mpir_values.hpp"
#include "mpir_variables.hpp"

namespace mpiacq::mpir {

namespace {

using found_value = std::optional<decltype(variable_value::value)>;

template <class T>
result<found_value> taken(result<T> value) {
  if (!value) return fail(std::move(value).error());
  return found_value{std::move(*value)};
}

result<found_value> taken(result<std::optional<std::string>> text) {
  if (!text) return fail(std::move(text).error());
  return found_value{std::move(*text).value_or("")};
}

result<found_value> value_of(const known_symbol& about, memory_reader& memory, const target_abi& abi,
                             const symbol& variable) {
  switch (about.form) {
    case symbol_form::integer:
      return taken(read_integer(memory, abi, variable));
    case symbol_form::pointer:
      return taken(read_pointer_variable(memory, abi, variable));
    case symbol_form::string_pointer:
      return taken(read_string_variable(memory, abi, variable));
    case symbol_form::char_array:
      // No document gives MPIR_dll_name a length, and one MPI declares the variable as a pointer.
      if (about.elements == 0) return taken(read_string_variable(memory, abi, variable));
      return taken(read_char_array(memory, variable, variable.size != 0 ? variable.size : about.elements));
    case symbol_form::function:
    case symbol_form::integer_array:
    case symbol_form::flag:
      break;
  }
  return found_value{};
}

}  // namespace

variable_values read_values(memory_reader& memory, const target_abi& abi, const symbol_set& symbols) {
  variable_values all;
  for (const known_symbol& one : known_symbols()) {
    if (!symbols.has(one.id)) continue;
    auto value = value_of(one, memory, abi, *symbols[one.id]);
    if (!value) {
      all.problems.push_back(std::move(value).error());
    } else if (*value) {
      all.values.push_back({one.id, std::move(**value)});
    }
  }
  return all;
}

}  // namespace mpiacq::mpir
