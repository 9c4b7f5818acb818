// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "mpiacq/process/symbols.hpp"

#include <algorithm>
#include <array>

namespace mpiacq {

std::string build_id_text(const module& m) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(m.build_id.size() * 2);
  for (const std::byte b : m.build_id) {
    text += digits[std::to_integer<unsigned>(b) >> 4];
    text += digits[std::to_integer<unsigned>(b) & 0xf];
  }
  return text;
}

std::string_view name(layout_source source) {
  constexpr std::array<std::string_view, 5> names = {"dwarf", "debug-file", "debuginfod", "inferred", "fixed"};
  return names[static_cast<std::size_t>(source)];
}

const structure_member* structure_layout::find(std::string_view member_name) const {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const structure_member& m) { return m.name == member_name; });
  return found == members.end() ? nullptr : &*found;
}

result<std::vector<std::optional<symbol>>> symbol_source::find_symbols(std::span<const std::string_view> names) {
  return look_up(names, symbol_scope{});
}

result<std::optional<symbol>> symbol_source::find_symbol(std::string_view name) {
  auto found = find_symbols({&name, 1});
  if (!found) return fail(std::move(found).error());
  return std::move(found->front());
}

result<std::optional<variable_type>> symbol_source::type_of(const symbol&, const symbol*) {
  return std::nullopt;
}

result<std::optional<structure_layout>> symbol_source::structure_named(std::string_view, const symbol&) {
  return std::nullopt;
}

}  // namespace mpiacq
