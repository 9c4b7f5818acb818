// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_variable.hpp"

#include <dwarf.h>
#include <fmt/format.h>

#include "dwarf/dwarf_data.hpp"
#include "errors/try.hpp"

namespace mpiacq::debug_info {

namespace {

type_kind variable_kind(int tag) {
  switch (tag) {
    case DW_TAG_base_type:
    case DW_TAG_enumeration_type:
      return type_kind::integer;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
      return type_kind::pointer;
    case DW_TAG_array_type:
      return type_kind::array;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
      return type_kind::structure;
    case DW_TAG_subroutine_type:
      return type_kind::function;
    default:
      return type_kind::other;
  }
}

/// A base type that is not an integer.
bool is_no_integer(Dwarf_Die& entry) {
  Dwarf_Attribute attribute;
  Dwarf_Word encoding = 0;
  if (dwarf_tag(&entry) != DW_TAG_base_type || dwarf_attr(&entry, DW_AT_encoding, &attribute) == nullptr) return false;
  return dwarf_formudata(&attribute, &encoding) == 0 &&
         (encoding == DW_ATE_float || encoding == DW_ATE_complex_float || encoding == DW_ATE_decimal_float);
}

/// The type of an entry (DW_AT_type), past typedefs and qualifiers.
struct described {
  Dwarf_Die entry{};
  type_kind kind = type_kind::other;
  std::string name;  ///< the first name on the way
  std::uint64_t size = 0;
  bool is_volatile = false;
};

result<std::optional<described>> describe(const dwarf_data& data, Dwarf_Die& of) {
  described found;
  Dwarf_Die at = of;
  for (int step = 0; step < max_type_chain; ++step) {
    Dwarf_Attribute attribute;
    if (!data.find_attribute(at, DW_AT_type, attribute)) return std::nullopt;  // void
    const auto target = data.follow(attribute);
    if (!target) return data.broken("following a type");
    Dwarf_Die next = *target;
    if (found.name.empty()) found.name = std::string{data.name_of(next)};
    switch (dwarf_tag(&next)) {
      case DW_TAG_volatile_type:
        found.is_volatile = true;
        break;
      case DW_TAG_typedef:
      case DW_TAG_const_type:
      case DW_TAG_restrict_type:
      case DW_TAG_atomic_type:
      case DW_TAG_packed_type:
      case DW_TAG_immutable_type:
        break;
      default:
        found.entry = next;
        found.kind = is_no_integer(next) ? type_kind::other : variable_kind(dwarf_tag(&next));
        Dwarf_Word size = 0;
        if (dwarf_aggregate_size(&next, &size) == 0) found.size = size;
        return found;
    }
    at = next;
  }
  return fail(error{error_code::bad_format,
                    fmt::format("the debug information of {}: a type is a typedef of itself", data.file_name())}
                  .on(data.file_name()));
}

}  // namespace

result<std::optional<variable_type>> read_type(elf::image& file, const symbol& variable, const symbol* near,
                                               const debug_file_search& search, std::span<const std::string> roots) {
  auto data = TRY(dwarf_data::open(file, search, roots));
  if (!data) return std::nullopt;
  const auto near_address = near == nullptr ? std::nullopt : std::optional{near->offset.value()};
  auto entry = find_variable(*data, variable.name, near_address);
  if (!entry) return fail(std::move(entry).error());
  if (!*entry) return std::nullopt;

  auto outer = TRY(describe(*data, **entry));
  variable_type type;
  if (!outer) return type;
  type.kind = outer->kind;
  type.name = std::move(outer->name);
  type.size = outer->size;
  type.is_volatile = outer->is_volatile;
  if (type.kind != type_kind::pointer && type.kind != type_kind::array) return type;
  auto inner = TRY(describe(*data, outer->entry));
  if (!inner) return type;
  type.inner_kind = inner->kind;
  type.inner_name = std::move(inner->name);
  type.inner_size = inner->size;
  // The elements of an array carry its volatile qualifier.
  if (type.kind == type_kind::array) type.is_volatile = type.is_volatile || inner->is_volatile;
  return type;
}

}  // namespace mpiacq::debug_info
