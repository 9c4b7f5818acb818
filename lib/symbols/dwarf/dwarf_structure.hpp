// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dwarf/dwarf_data.hpp"
#include "mpiacq/process/symbols.hpp"

namespace mpiacq::debug_info {

/// A type without its typedefs and qualifiers. `name` is the name of the last typedef, which is the only name of an
/// anonymous structure.
struct bare_type {
  Dwarf_Die entry{};
  int tag = 0;
  std::string name;
};

[[nodiscard]] bool is_structure(int tag);
/// A declaration describes the type by the contents of its own file, which may have less than the file of the
/// definition.
[[nodiscard]] bool is_declaration(Dwarf_Die& entry);

/// Reads layouts from one file's DWARF, which must outlive this object.
class structure_reader {
 public:
  /// Finds the definition of a type that is only declared, by its tag and name.
  using finder = std::function<result<std::optional<Dwarf_Die>>(int tag, std::string_view name)>;

  structure_reader(const dwarf_data& data, finder find) : data_(data), find_(std::move(find)) {}

  /// The entry's DW_AT_type; empty if it has none (void).
  [[nodiscard]] result<std::optional<bare_type>> type_of(const Dwarf_Die& entry) const;
  /// The type itself, past typedefs and qualifiers.
  [[nodiscard]] result<std::optional<bare_type>> bared(const Dwarf_Die& type) const;
  /// The definition of a structure that may be only declared, or be in a type unit; empty if this file has no
  /// definition.
  [[nodiscard]] result<std::optional<bare_type>> completed(bare_type type) const;
  /// The size of a type in bytes, past typedefs and qualifiers; empty if it has none.
  [[nodiscard]] std::optional<std::uint64_t> size_of(const Dwarf_Die& type) const;
  /// The names of an enumeration.
  [[nodiscard]] result<std::vector<enumerator>> enumerators_of(Dwarf_Die& enumeration) const;
  /// The layout of a complete structure. The caller fills in `source` and the paths.
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
