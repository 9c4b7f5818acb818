// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_call_sites.hpp"

#include <array>
#include <span>
#include <utility>

#include <dwarf.h>

#include "dwarf/entry_walk.hpp"
#include "errors/try.hpp"

namespace mpiacq::debug_info {

namespace {

bool is_call_site(int tag) {
  return tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site;
}

/// The address behind the call.
std::optional<std::uint64_t> return_address_of(Dwarf_Die& site) {
  const unsigned name = dwarf_tag(&site) == DW_TAG_call_site ? DW_AT_call_return_pc : DW_AT_low_pc;
  Dwarf_Attribute attribute;
  Dwarf_Addr address = 0;
  if (dwarf_attr(&site, name, &attribute) == nullptr || dwarf_formaddr(&attribute, &address) != 0) return std::nullopt;
  return address;
}

/// The address that an expression takes from the file's list of addresses (DW_OP_addrx), written out.
std::optional<std::vector<std::byte>> with_address(Dwarf_Attribute& attribute) {
  Dwarf_Op* operations = nullptr;
  std::size_t count = 0;
  Dwarf_Attribute at;
  Dwarf_Addr address = 0;
  if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count == 0) return std::nullopt;
  if (dwarf_getlocation_attr(&attribute, operations, &at) != 0 || dwarf_formaddr(&at, &address) != 0) {
    return std::nullopt;
  }
  const bool is_address_alone = count == 1 || (count == 2 && operations[1].atom == DW_OP_stack_value);
  if (!is_address_alone) return std::nullopt;
  std::vector<std::byte> written = {std::byte{DW_OP_addr}};
  for (unsigned shift = 0; shift < 64; shift += 8) written.push_back(static_cast<std::byte>(address >> shift));
  return written;
}

/// The bytes of an attribute that is an expression; empty if it is none, or is too long.
std::vector<std::byte> expression_of(Dwarf_Die& entry, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Block block{};
  if (dwarf_attr(&entry, name, &attribute) == nullptr || dwarf_formblock(&attribute, &block) != 0) return {};
  if (block.length == 0 || block.length > largest_site_expression) return {};
  if (block.data[0] == DW_OP_addrx || block.data[0] == DW_OP_GNU_addr_index) {
    return with_address(attribute).value_or(std::vector<std::byte>{});
  }
  const auto* bytes = reinterpret_cast<const std::byte*>(block.data);
  return {bytes, bytes + block.length};
}

/// The first of two attributes that the entry has: the name of DWARF 5, and the older one of GCC.
std::vector<std::byte> expression_of(Dwarf_Die& entry, unsigned name, unsigned older_name) {
  auto found = expression_of(entry, name);
  return found.empty() ? expression_of(entry, older_name) : found;
}

result<std::vector<call_description::parameter>> parameters_of(const dwarf_data& data, Dwarf_Die& site) {
  std::vector<call_description::parameter> all;
  TRY(visit_children(data, site, [&](Dwarf_Die& child) -> result<bool> {
    const int tag = dwarf_tag(&child);
    if (tag != DW_TAG_call_site_parameter && tag != DW_TAG_GNU_call_site_parameter) return false;
    call_description::parameter one{expression_of(child, DW_AT_location),
                                    expression_of(child, DW_AT_call_value, DW_AT_GNU_call_site_value)};
    if (!one.place.empty() && !one.value.empty()) all.push_back(std::move(one));
    return all.size() == most_site_parameters;
  }));
  return all;
}

/// Whether GCC has written the unit of an entry.
bool is_by_gcc(const dwarf_data& data, Dwarf_Die& entry) {
  Dwarf_Die unit;
  if (dwarf_diecu(&entry, &unit, nullptr, nullptr) == nullptr) return false;
  return data.string_of(unit, DW_AT_producer).starts_with("GNU ");
}

}  // namespace

result<std::optional<call_description>> call_site_in(const dwarf_data& data, const Dwarf_Die& function,
                                                     std::uint64_t return_address) {
  std::optional<Dwarf_Die> found;
  std::size_t count = 0;
  TRY(walk_below(data, function, [&](Dwarf_Die& entry) -> result<walk_step> {
    const int tag = dwarf_tag(&entry);
    if (is_call_site(tag)) {
      if (return_address_of(entry) != return_address) return walk_step::over;
      found = entry;
      return ++count == 2 ? walk_step::stop : walk_step::over;
    }
    return is_block(tag) || tag == DW_TAG_inlined_subroutine ? walk_step::into : walk_step::over;
  }));
  if (count != 1) return std::nullopt;
  Dwarf_Die caller = function;
  return call_description{TRY(parameters_of(data, *found)), is_by_gcc(data, caller),
                          expression_of(caller, DW_AT_frame_base)};
}

}  // namespace mpiacq::debug_info
