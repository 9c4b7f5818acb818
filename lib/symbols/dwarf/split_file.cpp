// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/split_file.hpp"

#include <dwarf.h>
#include <elf.h>
#include <fmt/format.h>

#include "debug_files/debug_copy.hpp"
#include "errors/try.hpp"

namespace mpiacq::debug_info {

namespace {

constexpr std::array<std::string_view, split_sections> section_names = {
    ".debug_info.dwo", ".debug_abbrev.dwo", ".debug_str.dwo", ".debug_str_offsets.dwo", ".debug_rnglists.dwo"};

/// The numbers of the sections in an index (DWARF 5, 7.3.5.3; GNU's index has the same numbers except for the last
/// one). All units share the strings.
constexpr std::array<std::uint64_t, split_sections> index_columns = {1, 3, 0, 6, 8};
constexpr std::uint64_t largest_index = std::uint64_t{16} << 20;

constexpr std::size_t number_of(split_section which) {
  return static_cast<std::size_t>(which);
}

}  // namespace

std::optional<std::size_t> place_in_first_entry(const unit_header& header, std::span<const std::byte> unit,
                                                std::span<const std::byte> table, byte_order order, std::uint64_t name,
                                                std::uint64_t form) {
  byte_cursor entry{unit.subspan(header.header_size), order};
  const std::uint64_t code = entry.uleb();
  byte_cursor abbreviations{table, order};
  abbreviation a;
  while (next_abbreviation(abbreviations, a)) {
    if (a.code != code) continue;
    for (const auto& attribute : a.attributes) {
      const std::size_t at = unit.size() - entry.rest().size();
      const bool is_it = attribute.name == name && attribute.form == form;
      if (!skip_form(entry, attribute.form, header)) return std::nullopt;
      if (is_it) return at;
    }
    return std::nullopt;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> number_of_split_unit(const unit_header& header, std::span<const std::byte> unit,
                                                  std::span<const std::byte> table, byte_order order) {
  if (header.version >= 5) return header.type == DW_UT_split_compile ? header.dwo_id : std::nullopt;
  const auto at = place_in_first_entry(header, unit, table, order, DW_AT_GNU_dwo_id, DW_FORM_data8);
  if (!at) return std::nullopt;
  return decode_unsigned(unit.subspan(*at, 8), order);
}

tl::unexpected<error> split_file::broken(const std::string& what) const {
  return fail(
      error{error_code::bad_format, fmt::format("the split debug information in {} is broken: {}", name(), what)}.on(
          name()));
}

result<std::unique_ptr<split_file>> split_file::open(elf::image file, std::shared_ptr<dwarf_allowance> allowance) {
  std::unique_ptr<split_file> opened{new split_file{std::move(file), std::move(allowance)}};
  TRY(opened->find_sections());
  return opened;
}

result<void> split_file::find_sections() {
  for (std::size_t i = 0; i < split_sections; ++i) {
    auto found = TRY(file_.find_section(section_names[i]));
    if (found && found->type != SHT_NOBITS) sections_[i] = *found;
  }
  if (!sections_[number_of(split_section::info)] || !sections_[number_of(split_section::abbreviations)]) {
    return broken("it has no units");
  }
  auto index = TRY(file_.find_section(".debug_cu_index"));
  if (!index) return {};
  if (index->size > largest_index) return too_expensive(name(), "its index is too large");
  auto bytes = TRY(read_debug_section(file_, *index, *allowance_));
  index_ = std::move(bytes);
  return {};
}

result<std::span<const std::byte>> split_file::whole(split_section which) {
  auto& known = read_[number_of(which)];
  if (!known) {
    const auto& section = sections_[number_of(which)];
    if (!section) return std::span<const std::byte>{};
    auto bytes = TRY(read_debug_section(file_, *section, *allowance_));
    known = std::move(bytes);
  }
  return std::span<const std::byte>{*known};
}

result<std::vector<std::byte>> split_file::part(split_section which, extent of) {
  const auto& section = sections_[number_of(which)];
  if (!section || of.size == 0) return std::vector<std::byte>{};
  if (!allowance_->take(of.size)) return too_expensive(name(), "its units are too large");
  const bool is_compressed = (section->flags & SHF_COMPRESSED) != 0;
  if (!is_compressed && !read_[number_of(which)]) {
    if (of.offset > section->size || of.size > section->size - of.offset)
      return broken("a unit's part is outside of its section");
    return file_.file().read(section->offset + of.offset, of.size);
  }
  const auto bytes = TRY(whole(which));
  if (of.offset > bytes.size() || of.size > bytes.size() - of.offset)
    return broken("a unit's part is outside of its section");
  const auto found = bytes.subspan(static_cast<std::size_t>(of.offset), static_cast<std::size_t>(of.size));
  return std::vector<std::byte>{found.begin(), found.end()};
}

/// DWARF 5, 7.3.5.3: a hash table of units' numbers, then a table of offsets, then one of sizes.
result<std::optional<split_file::extents>> split_file::find_in_index(std::uint64_t id) {
  byte_cursor header{*index_, order()};
  // GNU's version 2 has four bytes here; version 5 has two, and two bytes of padding.
  const auto version = decode_unsigned(std::span{*index_}.first(std::min<std::size_t>(index_->size(), 2)), order());
  header.take(4);
  const std::uint64_t columns = header.number(4);
  const std::uint64_t units = header.number(4);
  const std::uint64_t slots = header.number(4);
  if (!header.good() || columns == 0 || columns > 64 || units > largest_index || slots > largest_index) {
    return broken("its index has an unknown version or invalid counts");
  }
  byte_cursor numbers{header.take(slots * 8), order()};
  byte_cursor rows{header.take(slots * 4), order()};
  const auto kinds = header.take(columns * 4);
  const auto offsets = header.take(units * columns * 4);
  const auto sizes = header.take(units * columns * 4);
  if (!header.good()) return broken("its index is cut short");
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    const std::uint64_t number = numbers.number(8);
    const std::uint64_t row = rows.number(4);
    if (row == 0 || row > units || number != id) continue;
    extents found{};
    for (std::uint64_t column = 0; column < columns; ++column) {
      const auto word = [&](std::span<const std::byte> table, std::uint64_t at) {
        return decode_unsigned(table.subspan(static_cast<std::size_t>(at) * 4, 4), order());
      };
      const std::uint64_t kind = word(kinds, column);
      for (std::size_t i = 0; i < split_sections; ++i) {
        const bool is_newer = i == number_of(split_section::ranges);
        if (kind == 0 || kind != index_columns[i] || (is_newer && version < 5)) continue;
        const std::uint64_t at = (row - 1) * columns + column;
        found[i] = {word(offsets, at), word(sizes, at)};
      }
    }
    return found;
  }
  return std::nullopt;
}

/// Without an index, all units share the sections.
result<std::optional<split_file::extents>> split_file::find_in_units(std::uint64_t id) {
  const auto units = TRY(whole(split_section::info));
  const auto tables = TRY(whole(split_section::abbreviations));
  for (auto rest = units; !rest.empty();) {
    const auto header = decode_unit_header(rest, order(), false);
    if (!header) return std::nullopt;
    if (!allowance_->step()) return too_expensive(name(), "it has too many units");
    const auto unit = rest.first(static_cast<std::size_t>(header->size));
    if (header->abbreviations < tables.size()) {
      const auto table = tables.subspan(static_cast<std::size_t>(header->abbreviations));
      if (number_of_split_unit(*header, unit, table, order()) == id) {
        extents found{};
        found[number_of(split_section::info)] = {units.size() - rest.size(), unit.size()};
        found[number_of(split_section::abbreviations)] = {header->abbreviations, table.size()};
        for (const split_section shared : {split_section::string_offsets, split_section::ranges}) {
          const auto bytes = TRY(whole(shared));
          found[number_of(shared)] = {0, bytes.size()};
        }
        return found;
      }
    }
    rest = rest.subspan(unit.size());
  }
  return std::nullopt;
}

result<std::optional<split_unit>> split_file::find(std::uint64_t id) {
  auto found = TRY(index_ ? find_in_index(id) : find_in_units(id));
  if (!found) return std::nullopt;
  split_unit unit;
  const auto take = [&](split_section which, std::vector<std::byte>& into) -> result<void> {
    auto bytes = TRY(part(which, (*found)[number_of(which)]));
    into = std::move(bytes);
    return {};
  };
  TRY(take(split_section::info, unit.info));
  TRY(take(split_section::abbreviations, unit.abbreviations));
  TRY(take(split_section::string_offsets, unit.string_offsets));
  TRY(take(split_section::ranges, unit.ranges));
  const auto strings = TRY(whole(split_section::strings));
  unit.strings = strings;
  const auto header = decode_unit_header(unit.info, order(), false);
  if (!header) return broken("a unit has no header");
  unit.header = *header;
  // In a package, each unit has its own table.
  unit.info.resize(static_cast<std::size_t>(header->size));
  if (number_of_split_unit(*header, unit.info, unit.abbreviations, order()) != id) {
    return broken("its index points to another unit");
  }
  return unit;
}

}  // namespace mpiacq::debug_info
