// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <dwarf.h>
#include <fmt/format.h>

#include "dwarf/dwarf_code.hpp"
#include "errors/try.hpp"

namespace mpiacq::debug_info {

namespace {

/// Whether libdw can safely read the unit's line program: libdw measures the name of the unit's folder without a bound.
result<void> check_table(const dwarf_data& data, Dwarf_Die& unit) {
  Dwarf_Attribute attribute;
  if (dwarf_attr(&unit, DW_AT_comp_dir, &attribute) != nullptr &&
      data.string_of(unit, DW_AT_comp_dir).data() == nullptr) {
    return fail(error{
        error_code::bad_format,
        fmt::format("the debug information of {} is broken: the name of a unit's folder has no end", data.file_name())}
                    .on(data.file_name()));
  }
  Dwarf_Word offset = 0;
  if (dwarf_attr(&unit, DW_AT_stmt_list, &attribute) == nullptr || dwarf_formudata(&attribute, &offset) != 0) return {};
  return data.take_lines(offset);
}

std::string file_name(const char* name) {
  const std::string_view text{name == nullptr ? "" : name};
  return text == "???" ? std::string{} : std::string{text};
}

std::uint32_t line_number(std::uint64_t number) {
  return number > INT32_MAX ? 0 : static_cast<std::uint32_t>(number);
}

/// An attribute of the entry itself, not of its abstract origin: it belongs to the inlined call.
std::optional<std::uint64_t> number(Dwarf_Die& entry, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr(&entry, name, &attribute) == nullptr || dwarf_formudata(&attribute, &value) != 0) return std::nullopt;
  return value;
}

}  // namespace

result<source_place> line_at(const dwarf_data& data, Dwarf_Die& unit, std::uint64_t address) {
  TRY(check_table(data, unit));
  source_place place;
  Dwarf_Line* line = dwarf_getsrc_die(&unit, address);
  if (line == nullptr) return place;
  int row = 0;
  if (dwarf_lineno(line, &row) == 0 && row > 0) place.line = static_cast<std::uint32_t>(row);
  if (place.line != 0) place.file = file_name(dwarf_linesrc(line, nullptr, nullptr));
  return place;
}

result<source_place> call_of(const dwarf_data& data, Dwarf_Die& unit, Dwarf_Die& inlined) {
  source_place place;
  place.line = line_number(number(inlined, DW_AT_call_line).value_or(0));
  const auto index = number(inlined, DW_AT_call_file);
  if (!index || place.line == 0) return place;
  TRY(check_table(data, unit));
  Dwarf_Files* files = nullptr;
  std::size_t count = 0;
  if (dwarf_getsrcfiles(&unit, &files, &count) != 0) return data.broken("reading the names of a unit's source files");
  if (*index < count) place.file = file_name(dwarf_filesrc(files, static_cast<std::size_t>(*index), nullptr, nullptr));
  return place;
}

}  // namespace mpiacq::debug_info
