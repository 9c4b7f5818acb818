// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_layout.hpp"

#include <dwarf.h>
#include <fmt/format.h>

#include "dwarf/dwarf_data.hpp"
#include "dwarf/dwarf_structure.hpp"
#include "errors/try.hpp"

namespace mpiacq::debug_info {

namespace {

/// A reader for one query: a type that is only declared is searched for in all units.
structure_reader reader_of(const dwarf_data& data) {
  return {data, [&data](int tag, std::string_view name) { return find_type_definition(data, tag, name); }};
}

/// The structure that a variable, a pointer or an array, points to or consists of.
result<std::optional<structure_layout>> layout_behind(const dwarf_data& data, Dwarf_Die& variable,
                                                      const std::string& variable_name) {
  auto reader = reader_of(data);
  auto outer = TRY(reader.type_of(variable));
  const auto no_structure = [&](std::string_view is) {
    return fail(error{error_code::bad_format, fmt::format("the debug information of {}: {} is {}, not a pointer to "
                                                          "structures",
                                                          data.file_name(), variable_name, is)}
                    .on(data.file_name()));
  };
  if (!outer) return no_structure("declared without a type");
  if (outer->tag != DW_TAG_pointer_type && outer->tag != DW_TAG_array_type)
    return no_structure("neither a pointer nor an array");
  auto inner = TRY(reader.type_of(outer->entry));
  if (!inner) return no_structure("a pointer to void");
  if (!is_structure(inner->tag)) return no_structure("a pointer to something else");
  auto complete = TRY(reader.completed(*inner));
  if (!complete) return std::nullopt;  // declared only: this file does not define the structure
  return TRY(reader.layout_of(std::move(*complete)));
}

/// The answer if nothing is found: an error if a part of the debug information is missing, else empty.
result<std::optional<structure_layout>> nothing_in(const dwarf_data& data) {
  if (auto missing = data.take_problem()) return fail(std::move(*missing));
  return std::nullopt;
}

}  // namespace

result<std::optional<structure_layout>> read_layout(elf::image& file, const symbol& variable, const symbol* near,
                                                    const debug_file_search& search,
                                                    std::span<const std::string> roots) {
  auto data = TRY(dwarf_data::open(file, search, roots));
  if (!data) return std::nullopt;
  const auto near_address = near == nullptr ? std::nullopt : std::optional{near->offset.value()};
  auto found = TRY(find_variable(*data, variable.name, near_address));
  if (!found) return nothing_in(*data);
  return layout_behind(*data, *found, variable.name);
}

result<std::optional<structure_layout>> read_structure(elf::image& file, const symbol& tag, const symbol*,
                                                       const debug_file_search& search,
                                                       std::span<const std::string> roots) {
  auto data = TRY(dwarf_data::open(file, search, roots));
  if (!data) return std::nullopt;
  auto definition = TRY(find_type_definition(*data, DW_TAG_structure_type, tag.name));
  if (!definition) return nothing_in(*data);
  return TRY(reader_of(*data).layout_of({*definition, DW_TAG_structure_type, {}}));
}

}  // namespace mpiacq::debug_info
