// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_costs.hpp"

#include <array>

#include <dwarf.h>

#include "dwarf/dwarf_units.hpp"

namespace mpiacq::debug_info {

namespace {

// The memory that libdw 0.188 uses, in bytes, including the overhead of malloc.
constexpr std::uint64_t cost_of_unit = 1200;
constexpr std::uint64_t cost_of_abbreviation = 64;
constexpr std::uint64_t cost_of_row = 72;
constexpr std::uint64_t cost_of_reading_row = 150;  // during the reading of the table
constexpr std::uint64_t cost_of_header_byte = 16;   // names of folders and files

constexpr std::size_t common_attributes = 16;  // an abbreviation rarely has more

}  // namespace

bool dwarf_costs::take_units() {
  return take_units_in(of_.units, false) && take_units_in(of_.type_units, true);
}

bool dwarf_costs::take_units_in(std::span<const std::byte> units, bool of_types) {
  while (!units.empty()) {
    const auto unit = decode_unit_header(units, of_.order, of_types);
    if (!unit) return true;  // libdw stops here, too
    if (!allowance_->take(cost_of_unit)) return false;
    if (unit->type == DW_UT_skeleton) has_split_units_ = true;
    const auto bytes = units.first(static_cast<std::size_t>(unit->size));
    if (!take_first_entry(unit->abbreviations, bytes.subspan(unit->header_size))) return false;
    units = units.subspan(bytes.size());
  }
  return true;
}

/// libdw reads a table of abbreviations up to the one that an entry needs.
bool dwarf_costs::take_first_entry(std::uint64_t table, std::span<const std::byte> entry) {
  byte_cursor at{entry, of_.order};
  const std::uint64_t code = at.uleb();
  if (code == 0 || table >= of_.abbreviations.size()) return true;
  byte_cursor abbreviations{of_.abbreviations.subspan(static_cast<std::size_t>(table)), of_.order};
  abbreviation a;
  a.attributes.reserve(common_attributes);
  while (next_abbreviation(abbreviations, a)) {
    if (!allowance_->take(cost_of_abbreviation)) return false;
    if (a.code != code) continue;
    for (const auto& attribute : a.attributes) {
      if (attribute.name == DW_AT_GNU_dwo_name) has_split_units_ = true;
    }
    return true;
  }
  return abbreviations.good();
}

bool dwarf_costs::take_unit(Dwarf_CU* unit) {
  const auto [known, is_new] = units_.try_emplace(unit, true);
  if (!is_new) return known->second;
  Dwarf_Die top;
  Dwarf_Off table = 0;
  if (dwarf_cu_die(unit, &top, nullptr, &table, nullptr, nullptr, nullptr, nullptr) == nullptr) return true;
  return known->second = take_table(table);
}

bool dwarf_costs::take_table(std::uint64_t offset) {
  if (offset >= of_.abbreviations.size()) return true;
  if (const auto known = table_sizes_.find(offset); known != table_sizes_.end()) {
    return allowance_->take(known->second * cost_of_abbreviation);
  }
  byte_cursor table{of_.abbreviations.subspan(static_cast<std::size_t>(offset)), of_.order};
  std::uint64_t count = 0;
  abbreviation read;
  while (next_abbreviation(table, read)) {
    ++count;
    if (!allowance_->take(cost_of_abbreviation)) return false;
  }
  table_sizes_[offset] = count;
  return true;
}

bool dwarf_costs::take_lines(std::uint64_t offset) {
  if (offset >= of_.lines.size()) return true;
  const auto [known, is_new] = lines_.try_emplace(offset, true);
  if (!is_new) return known->second;
  const auto size = size_of_line_table(of_.lines.subspan(static_cast<std::size_t>(offset)), of_.order);
  const std::uint64_t header = size.header * cost_of_header_byte;
  known->second = size.rows * cost_of_reading_row + header <= allowance_->left() &&
                  allowance_->take(size.rows * cost_of_row + header);
  return known->second;
}

line_table_size size_of_line_table(std::span<const std::byte> table, byte_order order) {
  byte_cursor at{table, order};
  const auto length = at.length();
  at = byte_cursor{at.take(length.length), order};
  const std::uint64_t version = at.number(2);
  if (version >= 5) at.take(2);  // the sizes of addresses and segment selectors
  line_table_size size;
  size.header = at.number(length.offset_size);
  byte_cursor header{at.take(size.header), order};
  size.header = std::min<std::uint64_t>(size.header, table.size());
  header.take(version >= 4 ? 5 : 4);  // up to the first special opcode
  const std::uint64_t first_special = header.number(1);
  std::array<std::uint64_t, 256> operands{};
  for (std::size_t i = 1; i < first_special; ++i) operands[i] = header.number(1);
  while (!at.rest().empty()) {
    const std::uint64_t opcode = at.number(1);
    if (opcode >= first_special || opcode == DW_LNS_copy) {
      ++size.rows;
    } else if (opcode == 0) {
      byte_cursor extended{at.take(at.uleb()), order};
      if (extended.number(1) == DW_LNE_end_sequence) ++size.rows;
    } else if (opcode == DW_LNS_fixed_advance_pc) {
      at.take(2);
    } else {
      for (std::uint64_t i = 0; i < operands[opcode]; ++i) static_cast<void>(at.uleb());
    }
  }
  return size;
}

}  // namespace mpiacq::debug_info
