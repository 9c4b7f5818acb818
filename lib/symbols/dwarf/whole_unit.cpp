// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/whole_unit.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <dwarf.h>
#include <elf.h>
#include <fmt/format.h>

namespace mpiacq::debug_info {

namespace {

/// Replaces the four bytes behind a four-byte address; no reader uses them.
constexpr std::uint64_t filler_attribute = 0x3ffe;
constexpr std::size_t id_size = 8;
constexpr std::size_t longest_copied_string = 65536;

void put_uleb(std::vector<std::byte>& into, std::uint64_t value) {
  do {
    const std::uint64_t low = value & 0x7f;
    value >>= 7;
    into.push_back(static_cast<std::byte>(low | (value != 0 ? 0x80U : 0U)));
  } while (value != 0);
}

void put_number(std::vector<std::byte>& into, std::uint64_t value, std::size_t size, byte_order order) {
  into.resize(into.size() + size);
  encode_integer(value, order, std::span{into}.last(size));
}

class unit_joiner {
 public:
  unit_joiner(const split_unit& unit, const skeleton_parts& skeleton, const target_abi& abi)
      : unit_(unit), skeleton_(skeleton), order_(abi.order), narrow_address_(unit.header.address_size == 4) {}

  std::vector<std::byte> info;
  std::vector<std::byte> abbreviations;
  std::vector<std::byte> strings = {std::byte{0}};
  std::vector<std::byte> string_offsets;

  /// False: no compiler makes such a unit.
  bool join() { return (unit_.header.version >= 5 ? join_newer() : join_older()) && copy_abbreviations(); }

  /// Copies the strings that the unit's table of offsets refers to. False: the allowance is too small.
  bool copy_strings(dwarf_allowance& allowance) {
    byte_cursor table{unit_.string_offsets, order_};
    std::size_t width = unit_.header.offset_size;
    if (unit_.header.version >= 5) {
      const auto length = table.length();
      width = length.offset_size;
      const auto head = unit_.string_offsets.size() - table.rest().size() + 4;
      if (!table.good() || head > unit_.string_offsets.size()) return true;
      string_offsets.assign(unit_.string_offsets.begin(),
                            unit_.string_offsets.begin() + static_cast<std::ptrdiff_t>(head));
      table.take(4);
    }
    while (table.rest().size() >= width) {
      put_number(string_offsets, copy_string(table.number(width)), width, order_);
      if (!allowance.take(strings.size() - counted_)) return false;
      counted_ = strings.size();
    }
    return true;
  }

 private:
  /// In DWARF 5, the header of a compile unit has no unit id.
  bool join_newer() {
    const std::size_t plain_header = unit_.header.header_size - id_size;
    byte_cursor entry{std::span{unit_.info}.subspan(unit_.header.header_size), order_};
    const auto before = entry.rest();
    root_code_ = entry.uleb();
    const std::size_t code_size = before.size() - entry.rest().size();
    if (!entry.good() || root_code_ == 0) return false;
    info = unit_.info;
    info[plain_header - unit_.header.offset_size - 2] = static_cast<std::byte>(DW_UT_compile);
    std::memmove(info.data() + plain_header, info.data() + unit_.header.header_size, code_size);
    write_low_pc(plain_header + code_size);
    forget_table(plain_header - unit_.header.offset_size);
    return true;
  }

  /// Before DWARF 5, the unit id is an attribute.
  bool join_older() {
    const auto at =
        place_in_first_entry(unit_.header, unit_.info, unit_.abbreviations, order_, DW_AT_GNU_dwo_id, DW_FORM_data8);
    if (!at) return false;
    byte_cursor entry{std::span{unit_.info}.subspan(unit_.header.header_size), order_};
    root_code_ = entry.uleb();
    info = unit_.info;
    write_low_pc(*at);
    forget_table(unit_.header.header_size - 1 - unit_.header.offset_size);
    return true;
  }

  /// The unit's abbreviations are now at the beginning of their section.
  void forget_table(std::size_t at) {
    encode_integer(0, order_, std::span{info}.subspan(at, unit_.header.offset_size));
  }

  void write_low_pc(std::size_t at) {
    const auto place = std::span{info}.subspan(at, id_size);
    std::fill(place.begin(), place.end(), std::byte{0});
    encode_integer(skeleton_.low_pc, order_, place.first(narrow_address_ ? 4 : 8));
  }

  bool copy_abbreviations() {
    byte_cursor table{unit_.abbreviations, order_};
    bool has_root = false;
    abbreviation a;
    while (next_abbreviation(table, a)) {
      const bool is_root = a.code == root_code_ && !has_root;
      has_root = has_root || is_root;
      put_uleb(abbreviations, a.code);
      put_uleb(abbreviations, a.tag);
      abbreviations.push_back(a.has_children ? std::byte{1} : std::byte{0});
      if (is_root && unit_.header.version >= 5) put_low_pc();
      for (const auto& attribute : a.attributes) {
        if (is_root && unit_.header.version < 5 && attribute.name == DW_AT_GNU_dwo_id) {
          put_low_pc();
          continue;
        }
        put_attribute(attribute.name, attribute.form);
        abbreviations.insert(abbreviations.end(), attribute.implicit.begin(), attribute.implicit.end());
      }
      put_attribute(0, 0);
    }
    abbreviations.push_back(std::byte{0});
    return has_root;
  }

  void put_low_pc() {
    put_attribute(DW_AT_low_pc, DW_FORM_addr);
    if (narrow_address_) put_attribute(filler_attribute, DW_FORM_data4);
  }

  void put_attribute(std::uint64_t name, std::uint64_t form) {
    put_uleb(abbreviations, name);
    put_uleb(abbreviations, form);
  }

  /// The offset of the copied string; of the empty string if there is none.
  std::uint64_t copy_string(std::uint64_t offset) {
    if (offset >= unit_.strings.size()) return 0;
    const auto rest = unit_.strings.subspan(static_cast<std::size_t>(offset));
    const auto room = rest.first(std::min(rest.size(), longest_copied_string));
    const auto end = std::find(room.begin(), room.end(), std::byte{0});
    if (end == room.end()) return 0;
    const std::uint64_t begin = strings.size();
    strings.insert(strings.end(), room.begin(), end + 1);
    return begin;
  }

  const split_unit& unit_;
  const skeleton_parts& skeleton_;
  byte_order order_;
  bool narrow_address_;
  std::uint64_t root_code_ = 0;
  std::size_t counted_ = 0;
};

}  // namespace

result<elf::memory_elf> make_whole_unit(const split_unit& unit, const skeleton_parts& skeleton, const target_abi& abi,
                                        const std::string& name, dwarf_allowance& allowance) {
  unit_joiner joined{unit, skeleton, abi};
  const bool is_known = unit.header.address_size == abi.pointer_size && unit.header.header_size >= id_size;
  if (!is_known || !joined.join()) {
    return fail(
        error{error_code::bad_format, fmt::format("the split debug information in {} has a malformed unit", name)}.on(
            name));
  }
  const std::uint64_t copied = 2 * (unit.info.size() + unit.abbreviations.size()) + skeleton.addresses.size() +
                               skeleton.ranges.size() + unit.ranges.size();
  if (!joined.copy_strings(allowance) || !allowance.take(copied)) return too_expensive(name, "its units are too large");
  const bool is_newer = unit.header.version >= 5;
  const std::vector<std::pair<const char*, std::span<const std::byte>>> contents = {
      {".debug_info", joined.info},
      {".debug_abbrev", joined.abbreviations},
      {".debug_str", joined.strings},
      {".debug_str_offsets", joined.string_offsets},
      {".debug_addr", skeleton.addresses},
      {is_newer ? ".debug_rnglists" : ".debug_ranges", is_newer ? std::span{unit.ranges} : skeleton.ranges}};
  std::vector<elf::memory_elf::part> parts(1);
  for (const auto& [section, bytes] : contents) {
    parts.push_back({section, {}});
    parts.back().header.type = SHT_PROGBITS;
    parts.back().header.size = bytes.size();
  }
  elf::memory_elf whole{abi, ET_DYN, std::move(parts)};
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const auto& bytes = contents[i].second;
    std::copy(bytes.begin(), bytes.end(), whole.contents(i + 1).begin());
  }
  return whole;
}

}  // namespace mpiacq::debug_info
