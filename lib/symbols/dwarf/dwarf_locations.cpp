// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_locations.hpp"

#include <algorithm>

#include <dwarf.h>

#include "errors/try.hpp"

namespace mpiacq::debug_info {

namespace {

/// GCC's pairs of view numbers, which say nothing about places (DW_LLE_view_pair).
constexpr std::uint64_t list_view_pair = 9;

std::span<const std::byte> from_offset(std::span<const std::byte> section, std::uint64_t offset) {
  return section.subspan(static_cast<std::size_t>(std::min<std::uint64_t>(offset, section.size())));
}

}  // namespace

location_reader::location_reader(const dwarf_data& data, const Dwarf_Die& entry) : data_(data) {
  Dwarf_Die inner = entry;
  Dwarf_Die unit;
  if (entry.cu == nullptr || dwarf_diecu(&inner, &unit, &address_size_, &offset_size_) == nullptr) return;
  if (dwarf_cu_info(entry.cu, &version_, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr) != 0) version_ = 0;
  Dwarf_Addr low = 0;
  if (dwarf_lowpc(&unit, &low) == 0) low_pc_ = low;
  const auto base = [&](unsigned name) {
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    const bool has = dwarf_attr(&unit, name, &attribute) != nullptr && dwarf_formudata(&attribute, &number) == 0;
    return has ? number : Dwarf_Word{0};
  };
  address_base_ = base(DW_AT_addr_base);
  list_base_ = base(DW_AT_loclists_base);
}

/// Empty: it is no list.
std::optional<std::span<const std::byte>> location_reader::list_of(Dwarf_Attribute& attribute) const {
  const auto lists = data_.location_lists(version_ >= 5);
  Dwarf_Word number = 0;
  if (version_ == 0 || dwarf_formudata(&attribute, &number) != 0) return std::nullopt;
  if (dwarf_whatform(&attribute) != DW_FORM_loclistx) return from_offset(lists, number);
  // The number of an offset in the table at the unit's base, which the offset counts from.
  const auto table = from_offset(lists, list_base_);
  if (number >= table.size() / offset_size_) return std::nullopt;
  byte_cursor entry{table.subspan(static_cast<std::size_t>(number) * offset_size_), data_.order()};
  return from_offset(table, entry.number(offset_size_));
}

std::uint64_t location_reader::address_at(std::uint64_t index, bool& good) const {
  const auto table = from_offset(data_.addresses(), address_base_);
  good = good && index < table.size() / address_size_;
  if (!good) return 0;
  return byte_cursor{table.subspan(static_cast<std::size_t>(index) * address_size_), data_.order()}.number(
      address_size_);
}

location_reader::next location_reader::take(byte_cursor& from, std::uint64_t& base, piece& into) const {
  bool good = true;
  const std::uint64_t kind = from.number(1);
  switch (kind) {
    case DW_LLE_base_addressx:
      base = address_at(from.uleb(), good);
      return good ? next::nothing : next::end;
    case DW_LLE_base_address:
      base = from.number(address_size_);
      return next::nothing;
    case list_view_pair:
      from.uleb();
      from.uleb();
      return next::nothing;
    case DW_LLE_startx_endx:
      into.begin = address_at(from.uleb(), good);
      into.end = address_at(from.uleb(), good);
      break;
    case DW_LLE_startx_length:
      into.begin = address_at(from.uleb(), good);
      into.end = into.begin + from.uleb();
      break;
    case DW_LLE_offset_pair:
      into.begin = base + from.uleb();
      into.end = base + from.uleb();
      break;
    case DW_LLE_default_location:
      into.begin = 0;
      into.end = UINT64_MAX;
      break;
    case DW_LLE_start_end:
      into.begin = from.number(address_size_);
      into.end = from.number(address_size_);
      break;
    case DW_LLE_start_length:
      into.begin = from.number(address_size_);
      into.end = into.begin + from.uleb();
      break;
    default:  // the end of the list, or nothing that DWARF 5 knows
      return next::end;
  }
  into.expression = from.take(from.uleb());
  return good ? next::piece : next::end;
}

location_reader::next location_reader::take_before_5(byte_cursor& from, std::uint64_t& base, piece& into) const {
  const std::uint64_t largest = address_size_ >= 8 ? UINT64_MAX : (std::uint64_t{1} << (8 * address_size_)) - 1;
  const std::uint64_t begin = from.number(address_size_);
  const std::uint64_t end = from.number(address_size_);
  if (begin == largest) {
    base = end;
    return next::nothing;
  }
  if (begin == 0 && end == 0) return next::end;
  into.begin = base + begin;
  into.end = base + end;
  into.expression = from.take(from.number(2));
  return next::piece;
}

result<std::span<const std::byte>> location_reader::at(Dwarf_Attribute& attribute, std::uint64_t address) const {
  constexpr std::span<const std::byte> nothing;
  Dwarf_Block block{};
  if (dwarf_formblock(&attribute, &block) == 0) {
    if (block.length > largest_location) return nothing;
    return std::span{reinterpret_cast<const std::byte*>(block.data), static_cast<std::size_t>(block.length)};
  }
  const bool has_sizes = (address_size_ == 4 || address_size_ == 8) && (offset_size_ == 4 || offset_size_ == 8);
  const auto list = has_sizes ? list_of(attribute) : std::nullopt;
  if (!list) return nothing;
  byte_cursor from{*list, data_.order()};
  std::uint64_t base = low_pc_;
  for (std::size_t i = 0; i < most_pieces; ++i) {
    TRY(data_.take_steps(1));
    piece one;
    const next taken = version_ >= 5 ? take(from, base, one) : take_before_5(from, base, one);
    if (!from.good() || taken == next::end) return nothing;
    if (taken == next::nothing || address < one.begin || address >= one.end) continue;
    return one.expression.size() <= largest_location ? one.expression : nothing;
  }
  return nothing;
}

}  // namespace mpiacq::debug_info
