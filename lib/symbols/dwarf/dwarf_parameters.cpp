// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_parameters.hpp"

#include <span>

#include <dwarf.h>

#include "errors/try.hpp"

namespace mpiacq::debug_info {

namespace {

using kind_of_place = parameter_places::parameter::place;

/// The operations of an expression, as libdw has read them.
using operations = std::span<const Dwarf_Op>;

/// The register that an operation names, with the number that it adds.
struct named_register {
  std::uint64_t number = 0;
  std::int64_t offset = 0;
};

std::optional<std::uint64_t> register_itself(const Dwarf_Op& op) {
  if (op.atom == DW_OP_regx) return op.number;
  if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31) return op.atom - std::uint64_t{DW_OP_reg0};
  return std::nullopt;
}

std::optional<named_register> register_as_base(const Dwarf_Op& op) {
  if (op.atom == DW_OP_bregx) return named_register{op.number, static_cast<std::int64_t>(op.number2)};
  if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31)
    return named_register{op.atom - std::uint64_t{DW_OP_breg0}, static_cast<std::int64_t>(op.number)};
  return std::nullopt;
}

std::optional<std::int64_t> constant_of(const Dwarf_Op& op) {
  if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31) return std::int64_t{op.atom} - DW_OP_lit0;
  switch (op.atom) {
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts:
      return static_cast<std::int64_t>(op.number);
    default:
      return std::nullopt;
  }
}

/// The operations of a location at an address; empty if there are none there, or if they are in too many pieces.
result<operations> location_at(const dwarf_data& data, Dwarf_Attribute& attribute, std::uint64_t address) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  Dwarf_Op* first = nullptr;
  std::size_t count = 0;
  std::ptrdiff_t next = 0;
  for (std::size_t i = 0; i < most_pieces; ++i) {
    TRY(data.take_steps(1));
    next = dwarf_getlocations(&attribute, next, &base, &begin, &end, &first, &count);
    if (next <= 0) return operations{};
    if (begin <= address && address < end) return operations{first, count};
  }
  return operations{};
}

/// What DW_OP_fbreg counts from: a register, or DWARF's frame address. Empty: something else.
struct frame_base {
  std::optional<std::uint64_t> in_register;
  bool is_known = false;
};

result<frame_base> frame_base_of(const dwarf_data& data, const Dwarf_Die& function, std::uint64_t address) {
  Dwarf_Attribute attribute;
  if (!data.find_attribute(function, DW_AT_frame_base, attribute)) return frame_base{};
  const operations ops = TRY(location_at(data, attribute, address));
  if (ops.size() != 1) return frame_base{};
  if (ops.front().atom == DW_OP_call_frame_cfa) return frame_base{std::nullopt, true};
  const auto number = register_itself(ops.front());
  return number ? frame_base{number, true} : frame_base{};
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

parameter_places::parameter place_of_parameter(operations ops, const frame_base& base) {
  parameter_places::parameter one;
  if (ops.size() == 1) {
    if (const auto number = register_itself(ops.front())) {
      one.is = kind_of_place::in_register;
      one.base = number;
    } else if (ops.front().atom == DW_OP_fbreg && base.is_known) {
      one.is = kind_of_place::in_memory;
      one.base = base.in_register;
      one.number = static_cast<std::int64_t>(ops.front().number);
    } else if (const auto beside = register_as_base(ops.front())) {
      one.is = kind_of_place::in_memory;
      one.base = beside->number;
      one.number = beside->offset;
    }
  } else if (ops.size() == 2 && ops.back().atom == DW_OP_stack_value) {
    if (const auto value = constant_of(ops.front())) {
      one.is = kind_of_place::constant;
      one.number = *value;
    }
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
  const frame_base base = TRY(frame_base_of(data, function, address));
  parameter_places all;
  bool is_plain = true;
  Dwarf_Die entry = function;
  const auto visited = parameters_below(data, entry, [&](Dwarf_Die& child) -> result<bool> {
    const auto size = size_of_type(data, child);
    is_plain = is_plain && size.has_value();
    if (!is_plain) return true;
    Dwarf_Attribute attribute;
    operations ops;
    if (dwarf_attr(&child, DW_AT_location, &attribute) != nullptr) ops = TRY(location_at(data, attribute, address));
    all.parameters.push_back(place_of_parameter(ops, base));
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
