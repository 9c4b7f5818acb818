// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "dwarf/dwarf_data.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq::debug_info {

/// A type without its typedefs and qualifiers. `name` is the last typedef's, which is all that names an anonymous
/// structure.
struct bare_type {
  Dwarf_Die entry{};
  int tag = 0;
  std::string name;
};

[[nodiscard]] bool is_structure(int tag);
/// A declaration says of the type what its own file knows, which may be less than the definition's.
[[nodiscard]] bool is_declaration(Dwarf_Die& entry);

/// Reads layouts out of one file's DWARF, which must outlive it.
class structure_reader {
 public:
  /// Finds the definition of a type that is only declared where it is used, by its tag and name.
  using finder = std::function<result<std::optional<Dwarf_Die>>(int tag, std::string_view name)>;

  structure_reader(const dwarf_data& data, finder find) : data_(data), find_(std::move(find)) {}

  /// The entry's DW_AT_type; empty where it has none (void).
  [[nodiscard]] result<std::optional<bare_type>> type_of(const Dwarf_Die& entry) const;
  /// A type itself, past typedefs and qualifiers.
  [[nodiscard]] result<std::optional<bare_type>> bared(const Dwarf_Die& type) const;
  /// The definition of a structure that may only be declared where it is used, or stand in a type unit; empty where
  /// this file has none.
  [[nodiscard]] result<std::optional<bare_type>> completed(bare_type type) const;
  /// The size of a type in bytes, past typedefs and qualifiers; empty where it has none.
  [[nodiscard]] std::optional<std::uint64_t> size_of(const Dwarf_Die& type) const;
  /// The layout of a complete structure. `source` and the paths are the caller's to fill in.
  [[nodiscard]] result<structure_layout> layout_of(bare_type type);

 private:
  [[nodiscard]] tl::unexpected<error> bad(std::string sentence) const;
  [[nodiscard]] result<void> add_members(Dwarf_Die& structure, std::uint64_t base, int depth, structure_layout& layout);
  [[nodiscard]] result<void> add_member(Dwarf_Die& entry, std::uint64_t base, int depth, structure_layout& layout);
  [[nodiscard]] result<std::uint64_t> offset_of(Dwarf_Die& member) const;
  [[nodiscard]] std::optional<std::uint64_t> size_of_array(Dwarf_Die& array) const;
  [[nodiscard]] bool is_signed(Dwarf_Die& type) const;

  const dwarf_data& data_;
  finder find_;
  std::size_t members_seen_ = 0;
};

}  // namespace mpiacq::debug_info
