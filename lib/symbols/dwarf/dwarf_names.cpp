// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The names of functions by DWARF, in the spelling of their language.
#include <algorithm>

#include <dwarf.h>

#include "code_names/function_name.hpp"
#include "dwarf/dwarf_code.hpp"
#include "dwarf/dwarf_languages.hpp"

namespace mpiacq::debug_info {

namespace {

constexpr int deepest_scope = 64;

/// The language of an entry's unit; -1 if the unit has none.
int language_of(const Dwarf_Die& entry) {
  Dwarf_Die at = entry;
  Dwarf_Die unit;
  if (dwarf_diecu(&at, &unit, nullptr, nullptr) == nullptr) return -1;
  return dwarf_srclang(&unit);
}

/// The declaration of a function: the entry itself, its abstract origin or its specification.
Dwarf_Die declaration_of(const dwarf_data& data, const Dwarf_Die& function) {
  constexpr int longest_chain = 16;
  Dwarf_Die at = function;
  for (int step = 0; step < longest_chain; ++step) {
    Dwarf_Attribute link;
    if (dwarf_attr(&at, DW_AT_abstract_origin, &link) == nullptr &&
        dwarf_attr(&at, DW_AT_specification, &link) == nullptr) {
      break;
    }
    const auto next = data.follow(link);
    if (!next) break;
    at = *next;
  }
  return at;
}

/// The child of `parent` that is or contains the entry at an offset: entries are in order, parents first.
bool step_towards(Dwarf_Die& parent, Dwarf_Off target, Dwarf_Die& into) {
  Dwarf_Die child;
  if (dwarf_child(&parent, &child) != 0) return false;
  bool found = false;
  while (dwarf_dieoffset(&child) <= target) {
    into = child;
    found = true;
    Dwarf_Die next;
    if (dwarf_siblingof(&child, &next) != 0 || dwarf_dieoffset(&next) <= dwarf_dieoffset(&child)) break;
    child = next;
  }
  return found;
}

/// The names of the namespaces, classes, modules and functions around an entry, each followed by "::".
std::string scopes_around(const dwarf_data& data, const Dwarf_Die& entry) {
  std::string scopes;
  Dwarf_Die at = entry;
  Dwarf_Die parent;
  if (dwarf_diecu(&at, &parent, nullptr, nullptr) == nullptr) return scopes;
  const Dwarf_Off target = dwarf_dieoffset(&at);
  Dwarf_Die next;
  for (int depth = 0; depth < deepest_scope && step_towards(parent, target, next); ++depth) {
    if (dwarf_dieoffset(&next) == target) break;
    const int tag = dwarf_tag(&next);
    const std::string_view name = data.name_of(next);
    if (!name.empty()) {
      if (tag != DW_TAG_lexical_block) scopes.append(name).append("::");
    } else if (tag == DW_TAG_namespace) {
      scopes += "(anonymous namespace)::";
    } else if (tag == DW_TAG_class_type || tag == DW_TAG_structure_type) {
      scopes += "{unnamed}::";
    }
    parent = next;
  }
  return scopes;
}

}  // namespace

function_name name_of_function(const dwarf_data& data, const Dwarf_Die& function) {
  Dwarf_Die declaration = declaration_of(data, function);
  Dwarf_Die own = function;
  const std::string_view name = data.name_of(own);
  std::string_view linkage = data.string_of(function, DW_AT_linkage_name);
  if (linkage.empty()) linkage = data.string_of(function, DW_AT_MIPS_linkage_name);
  const int language = language_of(declaration);
  if (is_fortran(language)) {
    if (auto in_module = demangle_fortran(linkage)) return {std::move(*in_module), true};
    return {std::string{name.empty() ? linkage : name}, true};
  }
  if (linkage.starts_with("_Z")) {
    if (auto plain = demangle_cpp(without_clone_marks(linkage))) return {std::move(*plain), true};
  }
  if (is_c(language)) return {std::string{name.empty() ? linkage : name}, true};
  if (name.empty()) return {function_of_symbol(linkage), true};
  return {scopes_around(data, declaration).append(name), false};
}

}  // namespace mpiacq::debug_info
