// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dwarf/dwarf_data.hpp"
#include "dwarf/dwarf_structure.hpp"
#include "mpiacq/process/type_source.hpp"

namespace mpiacq::debug_info {

/// The types of one file by name. Units are read in their order, and only until the queried type is found. Of each
/// name, the first definition of each kind is kept.
class type_index {
 public:
  /// `data` must outlive this object.
  explicit type_index(const dwarf_data& data);
  type_index(const type_index&) = delete;
  type_index& operator=(const type_index&) = delete;

  /// As `type_source::type_named`; the caller fills in `source` and the paths. Errors: bad_format; types before the
  /// broken place are still found.
  [[nodiscard]] result<std::optional<structure_layout>> find(std::string_view name, source_language language);

 private:
  struct kept_entry {
    int tag = 0;
    Dwarf_Die entry{};
  };
  using entries = std::unordered_map<std::string_view, std::vector<kept_entry>>;
  enum class naming : unsigned char { c, qualified, fortran };

  [[nodiscard]] result<std::optional<structure_layout>> find_exactly(std::string_view name,
                                                                     std::optional<int> wanted_tag);
  [[nodiscard]] result<std::optional<structure_layout>> describe(const kept_entry& type);
  [[nodiscard]] result<std::optional<Dwarf_Die>> definition_of(int tag, std::string_view name);
  [[nodiscard]] const kept_entry* known(std::string_view name, int tag) const;
  [[nodiscard]] result<bool> take_next_unit();
  result<void> take_children(Dwarf_Die& parent, naming how, const std::string& scope, int depth);
  result<void> take(Dwarf_Die& entry, naming how, const std::string& scope, int depth);
  void keep_scoped(std::string name, int tag, const Dwarf_Die& entry);
  void keep(std::string_view name, int tag, const Dwarf_Die& entry);

  const dwarf_data& data_;
  structure_reader reader_;
  const dwarf_data* file_;    ///< the file of the next units: `data_`, then the file that it shares
  Dwarf_CU* unit_ = nullptr;  ///< the last unit that was read
  bool complete_ = false;     ///< there are no more units
  entries entries_;           ///< names are in the sections, or in `made_names_`
  std::deque<std::string> made_names_;
};

}  // namespace mpiacq::debug_info
