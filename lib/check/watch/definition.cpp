// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "watch/definition.hpp"

#include "judges/judging.hpp"

namespace mpiacq::check {

namespace {

using mpir::symbol_form;

bool is_char(type_kind what, std::uint64_t size) {
  return what == type_kind::integer && size == 1;
}

/// Why the declared type is not of that form; empty where it is.
std::string objection(const variable_type& type, symbol_form form, const target_abi& abi, std::uint64_t array_size) {
  switch (form) {
    case symbol_form::integer:
      if (type.kind != type_kind::integer || type.size != abi.int_size) return "the document has an int";
      return {};
    case symbol_form::pointer:
      // What it points to is another clause's affair, as long as it can be a structure.
      if (type.kind != type_kind::pointer ||
          (type.inner_kind != type_kind::structure && type.inner_kind != type_kind::other)) {
        return "the document has a pointer to structures";
      }
      return {};
    case symbol_form::string_pointer:
      if (type.kind != type_kind::pointer || !is_char(type.inner_kind, type.inner_size))
        return "the document has a char *";
      return {};
    case symbol_form::char_array:
      if (type.kind != type_kind::array || !is_char(type.inner_kind, type.inner_size)) {
        return "the document has an array of char";
      }
      if (type.size < array_size) return fmt::format("the document has {} bytes", array_size);
      return {};
    default:
      return {};
  }
}

/// The same by what the symbol table alone tells.
std::string objection(const seen_symbol& symbol, symbol_form form, const target_abi& abi, std::uint64_t array_size) {
  if (symbol.kind == symbol_kind::function) return "the document has a variable";
  if (symbol.size == 0) return {};
  switch (form) {
    case symbol_form::integer:
      return symbol.size == abi.int_size ? "" : "the document has an int";
    case symbol_form::pointer:
    case symbol_form::string_pointer:
      return symbol.size == abi.pointer_size ? "" : "the document has a pointer";
    case symbol_form::char_array:
      return symbol.size >= array_size ? "" : fmt::format("the document has an array of {} bytes", array_size);
    default:
      return {};
  }
}

std::string size_note(std::uint64_t size, std::uint64_t array_size) {
  return array_size != 0 && size > array_size
             ? fmt::format("; the document has {} bytes, and a tool goes by the symbol's size", array_size)
             : "";
}

}  // namespace

std::string type_text(const variable_type& type) {
  std::string text = type.is_volatile ? "volatile " : "";
  switch (type.kind) {
    case type_kind::pointer:
      return (type.inner_name.empty() ? "void" : type.inner_name) + " *" + (type.is_volatile ? " volatile" : "");
    case type_kind::array:
      return fmt::format("{}{} [{}]", text, type.inner_name, type.inner_size == 0 ? 0 : type.size / type.inner_size);
    default:
      return text + (type.name.empty() ? fmt::format("a type of {} bytes", type.size) : type.name);
  }
}

finding judge_form(const seen_symbol& symbol, symbol_form form, const target_abi& abi, std::uint64_t array_size) {
  if (form == symbol_form::function) {
    if (symbol.kind == symbol_kind::function) return passed("a function in {}", symbol.module);
    return failed("{} in {} is no function by its symbol", symbol.name, symbol.module);
  }
  if (symbol.type && symbol.kind != symbol_kind::function) {
    const std::string text = type_text(*symbol.type);
    const std::string why = objection(*symbol.type, form, abi, array_size);
    if (!why.empty()) return failed("{} in {} is declared as {}: {}", symbol.name, symbol.module, text, why);
    return passed("{} in {}{}", text, symbol.module, size_note(symbol.type->size, array_size));
  }
  const std::string why = objection(symbol, form, abi, array_size);
  if (!why.empty()) {
    return failed("{} in {} is {} of {} bytes by its symbol: {}", symbol.name, symbol.module,
                  symbol.kind == symbol_kind::function ? "a function" : "a variable", symbol.size, why);
  }
  return passed("{} bytes in {}; no debug information tells the type{}", symbol.size, symbol.module,
                size_note(symbol.size, array_size));
}

finding judge_definition(const observations& o, mpir::known k, std::uint64_t array_size) {
  const mpir::known_symbol& known = mpir::known_symbols()[static_cast<std::size_t>(k)];
  if (const auto& symbol = o.defined[k]) return judge_form(*symbol, known.form, o.defined.abi, array_size);
  if (!known.required) return not_applicable("not defined, and it need not be");
  if (!o.defined.any_required()) return not_applicable("nothing of the interface was found (3.2, 4.1c)");
  return failed("neither {} nor any other module of the starter defines {}", o.defined.home, known.name);
}

}  // namespace mpiacq::check
