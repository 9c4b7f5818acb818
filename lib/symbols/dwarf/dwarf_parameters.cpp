// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_parameters.hpp"

#include <span>

#include <dwarf.h>

#include "dwarf/dwarf_locations.hpp"
#include "errors/try.hpp"

namespace mpiacq::debug_info {

namespace {

using kind_of_place = parameter_places::parameter::place;

using expression = std::span<const std::byte>;

/// What the one operation of an expression means; `constant` may have DW_OP_stack_value behind it.
struct operation {
  enum class kind : std::uint8_t { other, in_register, beside_register, beside_frame_base, frame_address, constant };
  kind is = kind::other;
  std::uint64_t register_number = 0;
  std::int64_t number = 0;
};

/// The value of an operation that pushes a constant; empty for others.
std::optional<std::int64_t> constant_of(std::uint64_t code, byte_cursor& from) {
  if (code >= DW_OP_lit0 && code <= DW_OP_lit31) return static_cast<std::int64_t>(code - DW_OP_lit0);
  if (code >= DW_OP_const1u && code <= DW_OP_const8s) {
    // const1u, const1s, const2u, ... const8s, in this order.
    const std::size_t size = std::size_t{1} << ((code - DW_OP_const1u) / 2);
    const std::uint64_t value = from.number(size);
    const auto unused = static_cast<unsigned>(64 - 8 * size);
    const bool is_signed = (code - DW_OP_const1u) % 2 != 0;
    return is_signed ? static_cast<std::int64_t>(value << unused) >> unused : static_cast<std::int64_t>(value);
  }
  if (code == DW_OP_constu) return static_cast<std::int64_t>(from.uleb());
  if (code == DW_OP_consts) return from.sleb();
  return std::nullopt;
}

operation operation_in(expression bytes, byte_order order) {
  using kind = operation::kind;
  byte_cursor from{bytes, order};
  const std::uint64_t code = from.number(1);
  operation one;
  if (code >= DW_OP_reg0 && code <= DW_OP_reg31) {
    one = {kind::in_register, code - DW_OP_reg0, 0};
  } else if (code == DW_OP_regx) {
    one = {kind::in_register, from.uleb(), 0};
  } else if (code >= DW_OP_breg0 && code <= DW_OP_breg31) {
    one = {kind::beside_register, code - DW_OP_breg0, from.sleb()};
  } else if (code == DW_OP_bregx) {
    one = {kind::beside_register, from.uleb(), 0};
    one.number = from.sleb();
  } else if (code == DW_OP_fbreg) {
    one = {kind::beside_frame_base, 0, from.sleb()};
  } else if (code == DW_OP_call_frame_cfa) {
    one = {kind::frame_address, 0, 0};
  } else if (const auto value = constant_of(code, from); value && from.number(1) == DW_OP_stack_value) {
    one = {kind::constant, 0, *value};
  }
  return from.good() && from.rest().empty() ? one : operation{};
}

/// What DW_OP_fbreg counts from: a register, or DWARF's frame address. Empty: something else.
struct frame_base {
  std::optional<std::uint64_t> in_register;
  bool is_known = false;
};

result<frame_base> frame_base_of(const dwarf_data& data, const Dwarf_Die& function, const location_reader& locations,
                                 std::uint64_t address) {
  Dwarf_Attribute attribute;
  if (!data.find_attribute(function, DW_AT_frame_base, attribute)) return frame_base{};
  const operation one = operation_in(TRY(locations.at(attribute, address)), data.order());
  if (one.is == operation::kind::frame_address) return frame_base{std::nullopt, true};
  if (one.is == operation::kind::in_register) return frame_base{one.register_number, true};
  return frame_base{};
}

/// The size of the type of a parameter in bytes. Empty: the type is neither an integer nor a pointer.
std::optional<std::uint8_t> size_of_type(const dwarf_data& data, const Dwarf_Die& parameter) {
  Dwarf_Die entry = parameter;
  for (int i = 0; i < max_type_chain; ++i) {
    Dwarf_Attribute reference;
    if (!data.find_attribute(entry, DW_AT_type, reference)) return std::nullopt;
    const auto type = data.follow(reference);
    if (!type) return std::nullopt;
    entry = *type;
    Dwarf_Attribute attribute;
    Dwarf_Word bytes = 0;
    const bool has_size =
        data.find_attribute(entry, DW_AT_byte_size, attribute) && dwarf_formudata(&attribute, &bytes) == 0;
    const bool is_word = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    switch (dwarf_tag(&entry)) {
      case DW_TAG_typedef:
      case DW_TAG_const_type:
      case DW_TAG_volatile_type:
      case DW_TAG_restrict_type:
      case DW_TAG_atomic_type:
        continue;
      case DW_TAG_pointer_type:
      case DW_TAG_reference_type:
        return has_size && is_word ? std::optional{static_cast<std::uint8_t>(bytes)} : std::uint8_t{8};
      case DW_TAG_enumeration_type:
        return has_size && is_word ? std::optional{static_cast<std::uint8_t>(bytes)} : std::nullopt;
      case DW_TAG_base_type: {
        Dwarf_Word encoding = 0;
        const bool is_float = !data.find_attribute(entry, DW_AT_encoding, attribute) ||
                              dwarf_formudata(&attribute, &encoding) != 0 || encoding == DW_ATE_float ||
                              encoding == DW_ATE_complex_float || encoding == DW_ATE_decimal_float;
        return has_size && is_word && !is_float ? std::optional{static_cast<std::uint8_t>(bytes)} : std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

parameter_places::parameter place_of_parameter(const operation& by, const frame_base& base) {
  parameter_places::parameter one;
  one.number = by.number;
  switch (by.is) {
    case operation::kind::in_register:
      one.is = kind_of_place::in_register;
      one.base = by.register_number;
      break;
    case operation::kind::beside_register:
      one.is = kind_of_place::in_memory;
      one.base = by.register_number;
      break;
    case operation::kind::beside_frame_base:
      if (!base.is_known) break;
      one.is = kind_of_place::in_memory;
      one.base = base.in_register;
      break;
    case operation::kind::constant:
      one.is = kind_of_place::constant;
      break;
    case operation::kind::frame_address:
    case operation::kind::other:
      break;
  }
  return one;
}

result<std::size_t> parameters_below(const dwarf_data& data, Dwarf_Die& function,
                                     const std::function<result<bool>(Dwarf_Die&)>& visit) {
  std::size_t count = 0;
  TRY(visit_children(data, function, [&](Dwarf_Die& child) -> result<bool> {
    if (dwarf_tag(&child) != DW_TAG_formal_parameter) return false;
    auto is_enough = visit(child);
    return is_enough && !*is_enough ? result<bool>(++count > most_parameters) : is_enough;
  }));
  return count;
}

/// The function has all parameters of its source. Compilers remove some from copies that they make for few callers.
result<bool> is_whole(const dwarf_data& data, const Dwarf_Die& function, std::size_t count) {
  Dwarf_Attribute reference;
  Dwarf_Die entry = function;
  if (dwarf_attr(&entry, DW_AT_abstract_origin, &reference) == nullptr) return true;
  auto origin = data.follow(reference);
  if (!origin) return false;
  const auto all = parameters_below(data, *origin, [](Dwarf_Die&) -> result<bool> { return false; });
  return all.map([&](std::size_t of_source) { return of_source == count; });
}

}  // namespace

result<std::optional<parameter_places>> parameters_at(const dwarf_data& data, const Dwarf_Die& function,
                                                      std::uint64_t address) {
  const location_reader locations(data, function);
  const frame_base base = TRY(frame_base_of(data, function, locations, address));
  parameter_places all;
  bool is_plain = true;
  Dwarf_Die entry = function;
  const auto visited = parameters_below(data, entry, [&](Dwarf_Die& child) -> result<bool> {
    const auto size = size_of_type(data, child);
    is_plain = is_plain && size.has_value();
    if (!is_plain) return true;
    Dwarf_Attribute attribute;
    expression bytes;
    if (dwarf_attr(&child, DW_AT_location, &attribute) != nullptr) bytes = TRY(locations.at(attribute, address));
    all.parameters.push_back(place_of_parameter(operation_in(bytes, data.order()), base));
    all.parameters.back().bytes = *size;
    return false;
  });
  if (!visited) return fail(visited.error());
  if (!is_plain || *visited > most_parameters || !TRY(is_whole(data, function, *visited))) return std::nullopt;
  Dwarf_Die unit;
  if (dwarf_diecu(&entry, &unit, nullptr, nullptr) == nullptr) return std::nullopt;
  all.by_gcc = data.string_of(unit, DW_AT_producer).starts_with("GNU ");
  return all;
}

}  // namespace mpiacq::debug_info
