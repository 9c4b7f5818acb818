// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_units.hpp"

#include <dwarf.h>

namespace mpiacq::debug_info {

std::optional<unit_header> decode_unit_header(std::span<const std::byte> bytes, byte_order order, bool of_types) {
  byte_cursor at{bytes, order};
  unit_header unit;
  const auto length = at.length();
  unit.offset_size = length.offset_size;
  if (!at.good() || length.length > at.rest().size()) return std::nullopt;
  unit.size = bytes.size() - at.rest().size() + length.length;
  unit.version = static_cast<std::uint16_t>(at.number(2));
  if (unit.version < 2 || unit.version > 5) return std::nullopt;
  if (unit.version == 5) {
    unit.type = static_cast<std::uint8_t>(at.number(1));
    unit.address_size = static_cast<std::uint8_t>(at.number(1));
    unit.abbreviations = at.number(unit.offset_size);
    if (unit.type == DW_UT_skeleton || unit.type == DW_UT_split_compile) unit.dwo_id = at.number(8);
    if (unit.type == DW_UT_type || unit.type == DW_UT_split_type) at.take(8 + unit.offset_size);
  } else {
    unit.abbreviations = at.number(unit.offset_size);
    unit.address_size = static_cast<std::uint8_t>(at.number(1));
    if (of_types) at.take(8 + unit.offset_size);
  }
  unit.header_size = bytes.size() - at.rest().size();
  if (!at.good() || unit.header_size > unit.size) return std::nullopt;
  return unit;
}

bool next_abbreviation(byte_cursor& table, abbreviation& read) {
  read.attributes.clear();
  read.code = table.uleb();
  if (read.code == 0) return false;
  read.tag = table.uleb();
  read.has_children = table.number(1) != 0;
  for (;;) {
    abbreviation::attribute a;
    a.name = table.uleb();
    a.form = table.uleb();
    if (!table.good()) return false;
    if (a.form == DW_FORM_implicit_const) {
      const auto before = table.rest();
      static_cast<void>(table.uleb());  // a signed number has the same length
      a.implicit = before.first(before.size() - table.rest().size());
    }
    if (a.name == 0 && a.form == 0) return true;
    if (read.attributes.size() == most_attributes) return false;
    read.attributes.push_back(a);
  }
}

bool skip_form(byte_cursor& at, std::uint64_t form, const unit_header& unit) {
  switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
      break;
    case DW_FORM_data1:
    case DW_FORM_flag:
    case DW_FORM_ref1:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      at.take(1);
      break;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      at.take(2);
      break;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      at.take(3);
      break;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
      at.take(4);
      break;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
      at.take(8);
      break;
    case DW_FORM_data16:
      at.take(16);
      break;
    case DW_FORM_addr:
      at.take(unit.address_size);
      break;
    case DW_FORM_sec_offset:
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_ref_addr:
      at.take(unit.offset_size);
      break;
    case DW_FORM_udata:
    case DW_FORM_sdata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_str_index:
    case DW_FORM_GNU_addr_index:
      static_cast<void>(at.uleb());
      break;
    case DW_FORM_string:
      static_cast<void>(at.text());
      break;
    case DW_FORM_block1:
      at.take(at.number(1));
      break;
    case DW_FORM_exprloc:
    case DW_FORM_block:
      at.take(at.uleb());
      break;
    default:
      return false;
  }
  return at.good();
}

}  // namespace mpiacq::debug_info
