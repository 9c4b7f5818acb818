// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_structure.hpp"

#include <dwarf.h>
#include <fmt/format.h>

#include "errors/try.hpp"

namespace mpiacq::debug_info {

namespace {

constexpr int max_nesting = 16;            // anonymous structures within structures
constexpr std::size_t max_members = 4096;  // including flattened members, and those that are left out

bool only_renames(int tag) {
  switch (tag) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
    case DW_TAG_packed_type:
    case DW_TAG_immutable_type:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool is_structure(int tag) {
  return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool is_declaration(Dwarf_Die& entry) {
  Dwarf_Attribute attribute;
  bool flag = false;
  return dwarf_attr(&entry, DW_AT_declaration, &attribute) != nullptr && dwarf_formflag(&attribute, &flag) == 0 && flag;
}

std::optional<std::uint64_t> structure_reader::size_of(const Dwarf_Die& type) const {
  Dwarf_Die copy = type;
  Dwarf_Word size = 0;
  if (dwarf_aggregate_size(&copy, &size) == 0) return size;
  return dwarf_tag(&copy) == DW_TAG_array_type ? size_of_array(copy) : std::nullopt;
}

/// libdw returns no size of an array in a unit without a language, such as a unit of dwz. Indices begin with 0 there
/// unless the entry says otherwise: callers ask for C's arrays.
std::optional<std::uint64_t> structure_reader::size_of_array(Dwarf_Die& array) const {
  auto element = type_of(array);
  if (!element || !*element || (*element)->tag == DW_TAG_array_type) return std::nullopt;
  Dwarf_Word size = 0;
  if (dwarf_aggregate_size(&(*element)->entry, &size) != 0 || size == 0) return std::nullopt;
  const auto number = [](Dwarf_Die& range, unsigned name) -> std::optional<std::uint64_t> {
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_attr(&range, name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0)
      return std::nullopt;
    return value;
  };
  std::uint64_t bytes = size;
  auto gone_through = visit_children(data_, array, [&](Dwarf_Die& range) -> result<bool> {
    if (dwarf_tag(&range) != DW_TAG_subrange_type) return false;
    auto count = number(range, DW_AT_count);
    if (const auto last = number(range, DW_AT_upper_bound))
      count = *last + 1 - number(range, DW_AT_lower_bound).value_or(0);
    if (!count || __builtin_mul_overflow(bytes, *count, &bytes)) bytes = 0;
    return bytes == 0;
  });
  return gone_through && bytes != 0 ? std::optional{bytes} : std::nullopt;
}

tl::unexpected<error> structure_reader::bad(std::string sentence) const {
  return fail(
      error{error_code::bad_format, fmt::format("the debug information of {}: {}", data_.file_name(), sentence)}.on(
          data_.file_name()));
}

result<std::optional<bare_type>> structure_reader::type_of(const Dwarf_Die& entry) const {
  Dwarf_Attribute attribute;
  if (!data_.find_attribute(entry, DW_AT_type, attribute)) return std::nullopt;
  const auto target = data_.follow(attribute);
  if (!target) return data_.broken("following a type");
  return bared(*target);
}

result<std::optional<bare_type>> structure_reader::bared(const Dwarf_Die& type) const {
  bare_type bare{type, 0, {}};
  for (int step = 0; step < max_type_chain; ++step) {
    bare.tag = dwarf_tag(&bare.entry);
    if (bare.tag == DW_TAG_typedef) bare.name = std::string{data_.name_of(bare.entry)};
    if (!only_renames(bare.tag)) return bare;
    Dwarf_Attribute attribute;
    if (!data_.find_attribute(bare.entry, DW_AT_type, attribute)) return std::nullopt;
    const auto target = data_.follow(attribute);
    if (!target) return data_.broken("following a type");
    bare.entry = *target;
  }
  return bad("a type is a typedef of itself");
}

result<std::optional<bare_type>> structure_reader::completed(bare_type type) const {
  Dwarf_Attribute attribute;
  if (dwarf_attr(&type.entry, DW_AT_signature, &attribute) != nullptr) {
    Dwarf_Die definition;
    if (dwarf_formref_die(&attribute, &definition) == nullptr) return data_.broken("following a type's signature");
    type.entry = definition;
  }
  bool declared_only = false;
  if (dwarf_attr(&type.entry, DW_AT_declaration, &attribute) != nullptr) {
    if (dwarf_formflag(&attribute, &declared_only) != 0) return data_.broken("reading a declaration");
  }
  if (!declared_only) return type;
  const std::string tag_name = std::string{data_.name_of(type.entry)};
  if (tag_name.empty()) return std::nullopt;
  auto definition = TRY(find_(dwarf_tag(&type.entry), tag_name));
  if (!definition) return std::nullopt;
  type.entry = *definition;
  return type;
}

result<std::vector<enumerator>> structure_reader::enumerators_of(Dwarf_Die& enumeration) const {
  std::vector<enumerator> found;
  TRY(visit_children(data_, enumeration, [&](Dwarf_Die& child) -> result<bool> {
    if (dwarf_tag(&child) != DW_TAG_enumerator) return false;
    if (found.size() == max_members) return bad("an enumeration has too many names");
    Dwarf_Attribute attribute;
    Dwarf_Sword value = 0;
    if (dwarf_attr(&child, DW_AT_const_value, &attribute) == nullptr || dwarf_formsdata(&attribute, &value) != 0)
      return false;
    found.push_back({std::string{data_.name_of(child)}, value});
    return false;
  }));
  return found;
}

result<structure_layout> structure_reader::layout_of(bare_type type) {
  members_seen_ = 0;
  structure_layout layout;
  layout.name = std::string{data_.name_of(type.entry)};
  if (layout.name.empty()) layout.name = type.name;
  const auto size = size_of(type.entry);
  if (!size || *size == 0) return bad(fmt::format("the structure {} has no size", layout.name));
  layout.size = *size;
  TRY(add_members(type.entry, 0, 0, layout));
  return layout;
}

result<void> structure_reader::add_members(Dwarf_Die& structure, std::uint64_t base, int depth,
                                           structure_layout& layout) {
  if (depth > max_nesting) return bad("a structure is nested in itself");
  return visit_children(data_, structure, [&](Dwarf_Die& child) -> result<bool> {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_member && tag != DW_TAG_inheritance) return false;
    if (++members_seen_ > max_members) return bad("a structure has too many members");
    TRY(add_member(child, base, depth, layout));
    return false;
  });
}

result<void> structure_reader::add_member(Dwarf_Die& entry, std::uint64_t base, int depth, structure_layout& layout) {
  // A bit field has no address, and a static member has no offset in the structure. The offset of a virtual base
  // differs between objects.
  for (const unsigned without_place : {DW_AT_bit_size, DW_AT_external, DW_AT_virtuality}) {
    if (dwarf_hasattr(&entry, without_place) != 0) return {};
  }
  auto within = TRY(offset_of(entry));
  auto type = type_of(entry);
  if (!type) return fail(std::move(type).error());
  const std::string name = std::string{data_.name_of(entry)};
  if (!*type) return bad(fmt::format("the member {} has no type", name));
  const std::uint64_t offset = base + within;
  if (within > layout.size || offset > layout.size) {
    return bad(
        fmt::format("the member {} lies at {}, outside of its structure of {} bytes", name, offset, layout.size));
  }
  if (is_structure((*type)->tag)) {
    auto complete = TRY(completed(**type));
    if (complete) type = std::move(complete);
  }
  if (name.empty() || dwarf_tag(&entry) == DW_TAG_inheritance) {
    return is_structure((*type)->tag) ? add_members((*type)->entry, offset, depth + 1, layout) : result<void>{};
  }
  structure_member member{name, offset, size_of((*type)->entry).value_or(0), (*type)->tag == DW_TAG_pointer_type,
                          is_signed((*type)->entry)};
  if (member.size > layout.size - offset) {
    return bad(fmt::format("the member {} reaches beyond the end of its structure of {} bytes", name, layout.size));
  }
  layout.members.push_back(std::move(member));
  return {};
}

/// DW_AT_data_member_location: a constant, or (DWARF 2 and 3) an expression that adds one. Absent, it is 0.
result<std::uint64_t> structure_reader::offset_of(Dwarf_Die& member) const {
  Dwarf_Attribute attribute;
  if (dwarf_attr(&member, DW_AT_data_member_location, &attribute) == nullptr) return 0;
  Dwarf_Word offset = 0;
  if (dwarf_formudata(&attribute, &offset) == 0) return offset;
  Dwarf_Block block;
  if (dwarf_formblock(&attribute, &block) != 0) return data_.broken("reading a member's offset");
  const std::span expression{block.data, static_cast<std::size_t>(block.length)};
  if (expression.empty() || expression[0] != DW_OP_plus_uconst) {
    return bad(fmt::format("the member {} has no constant offset", data_.name_of(member)));
  }
  for (std::size_t i = 1; i < expression.size() && i <= 9; ++i) {  // unsigned LEB128
    offset |= static_cast<std::uint64_t>(expression[i] & 0x7fU) << (7 * (i - 1));
    if ((expression[i] & 0x80U) == 0) return offset;
  }
  return bad(fmt::format("the offset of the member {} has no end", data_.name_of(member)));
}

bool structure_reader::is_signed(Dwarf_Die& type) const {
  Dwarf_Die base = type;
  if (dwarf_tag(&type) == DW_TAG_enumeration_type) {
    const auto underlying = type_of(type);
    if (!underlying || !*underlying) return false;
    base = (*underlying)->entry;
  }
  Dwarf_Attribute attribute;
  Dwarf_Word encoding = 0;
  if (dwarf_attr(&base, DW_AT_encoding, &attribute) == nullptr) return false;
  if (dwarf_formudata(&attribute, &encoding) != 0) return false;
  return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

}  // namespace mpiacq::debug_info
