// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <elfutils/libdw.h>

#include "debug_files/debug_copy.hpp"
#include "dwarf/dwarf_allowance.hpp"
#include "dwarf/dwarf_costs.hpp"
#include "dwarf/split_units.hpp"
#include "elf/elf_image.hpp"
#include "elf/memory_elf.hpp"
#include "mpiacq/process/process_symbols.hpp"

namespace mpiacq::debug_info {

/// The limit on typedefs and qualifiers between a name and its type; no program has more.
inline constexpr int max_type_chain = 64;

/// The DWARF of one file, through libdw. The image must outlive this object.
class dwarf_data {
 public:
  /// Empty if the file has no `.debug_info`. Errors: bad_format, not_found (the file that it shares with others), limit
  /// (see dwarf_allowance).
  [[nodiscard]] static result<std::optional<dwarf_data>> open(elf::image& file, const debug_file_search& search,
                                                              std::span<const std::string> roots,
                                                              with_locations locations = with_locations::no);

  [[nodiscard]] Dwarf* get() const { return dwarf_.get(); }
  [[nodiscard]] const std::string& file_name() const { return *file_name_; }
  /// An error bad_format with libdw's own message.
  [[nodiscard]] tl::unexpected<error> broken(std::string_view doing_what) const;

  /// An entry's name; empty if it has none, or if the name does not end within its section: libdw returns pointers to
  /// strings without a check of their end.
  [[nodiscard]] std::string_view name_of(Dwarf_Die& entry) const;
  /// The same for any string attribute, of the entry, its specification or its abstract origin.
  [[nodiscard]] std::string_view string_of(const Dwarf_Die& entry, unsigned attribute) const;

  /// Whether the name occurs in the string sections of this file or of the file that it shares with others. If it does
  /// not, no entry need be read.
  [[nodiscard]] bool may_name(std::string_view name) const;

  /// The file that it shares with others, or null.
  [[nodiscard]] const dwarf_data* shared() const { return shared_.get(); }

  /// Checks that the allowance permits a read of the line table at an offset of `.debug_line`. Errors: limit.
  [[nodiscard]] result<void> take_lines(std::uint64_t offset) const;
  /// Checks that the allowance permits reads of the entries below an entry. Call it before the reads. Errors: limit.
  [[nodiscard]] result<void> take_unit_of(const Dwarf_Die& entry) const;
  /// Takes this many steps through entries or ranges, or this many bytes for results, from the allowance. Errors:
  /// limit.
  [[nodiscard]] result<void> take_steps(std::uint64_t steps) const;
  [[nodiscard]] result<void> take_memory(std::uint64_t bytes) const;

  /// The other part of a unit whose first entry is a skeleton, from its .dwo or .dwp file; null if the unit is
  /// complete, and if the other part is not available (see `take_problem`). Valid as long as this object.
  [[nodiscard]] const dwarf_data* split_part(Dwarf_Die& unit) const;
  /// The first entry of the complete unit: of its split part, if there is one, else `unit` itself. This object answers
  /// queries about its entries.
  [[nodiscard]] Dwarf_Die whole_unit(Dwarf_Die unit) const;
  /// Returns, once, the first fault that made an answer incomplete (a missing split part, lines that cost too much).
  [[nodiscard]] std::optional<error> take_problem() const { return std::exchange(problem_, std::nullopt); }
  void note_problem(error e) const {
    if (!std::exchange(problem_noted_, true)) problem_ = std::move(e);
  }

  /// The entry that a reference points to, in this file or in the file that it shares with others; empty if the
  /// reference is invalid.
  [[nodiscard]] std::optional<Dwarf_Die> follow(Dwarf_Attribute& reference) const;
  /// An attribute of an entry, its specification or its abstract origin; false if none has it.
  [[nodiscard]] bool find_attribute(const Dwarf_Die& entry, unsigned name, Dwarf_Attribute& into) const;

  /// .debug_loclists (DWARF 5) or .debug_loc (before); empty unless the file was opened with locations.
  [[nodiscard]] std::span<const std::byte> location_lists(bool is_dwarf_5) const {
    return std::as_bytes(is_dwarf_5 ? location_lists_ : old_location_lists_);
  }
  /// .debug_addr.
  [[nodiscard]] std::span<const std::byte> addresses() const { return std::as_bytes(addresses_); }
  [[nodiscard]] byte_order order() const { return order_; }

  /// Calls `visit` with the top entry of each unit until it returns true.
  result<void> visit_units(const std::function<result<bool>(Dwarf_Die& unit)>& visit) const;

 private:
  /// The sections that contain strings.
  using extent = std::span<const char>;

  explicit dwarf_data(std::shared_ptr<dwarf_allowance> allowance) : allowance_(std::move(allowance)) {}
  [[nodiscard]] result<void> open_handles(elf::image& file, with_locations locations);
  [[nodiscard]] result<void> open_split_part(const skeleton_unit& skeleton, const dwarf_data& home);
  /// The object that an entry belongs to: this one, the shared file, or a split part.
  [[nodiscard]] const dwarf_data& home_of(const Dwarf_Die& entry) const;
  [[nodiscard]] result<void> open_shared_file(elf::image& file, const debug_file_search& search,
                                              std::span<const std::string> roots);
  [[nodiscard]] result<void> open_dwarf();
  [[nodiscard]] result<void> check_strings_end() const;
  void note_sections();

  struct end_elf {
    void operator()(Elf* e) const { elf_end(e); }
  };
  struct end_dwarf {
    void operator()(Dwarf* d) const { dwarf_end(d); }
  };
  std::shared_ptr<dwarf_allowance> allowance_;
  std::unique_ptr<elf::memory_elf> copy_;  ///< the source of `elf_`, unless the file is mapped
  std::unique_ptr<Elf, end_elf> elf_;
  std::unique_ptr<Dwarf, end_dwarf> dwarf_;
  const std::string* file_name_ = nullptr;
  byte_order order_ = byte_order::little;
  std::vector<extent> strings_;
  std::vector<extent> names_;  ///< the sections among them that contain names of entries
  extent addresses_;           ///< .debug_addr
  extent ranges_;              ///< .debug_ranges
  extent location_lists_;
  extent old_location_lists_;
  mutable dwarf_costs costs_;  ///< the memory that libdw uses for this file
  // The file that several files share (dwz). libdw itself would open any file of that name.
  std::unique_ptr<elf::image> shared_image_;
  std::unique_ptr<dwarf_data> shared_;
  // Units that are split.
  target_abi abi_;
  std::string split_name_;  ///< the name of the file of a split part
  std::unique_ptr<split_unit_files> split_files_;
  /// by the offsets of their skeletons
  mutable std::unordered_map<Dwarf_Off, std::unique_ptr<dwarf_data>> split_parts_;
  mutable std::unordered_map<Dwarf*, const dwarf_data*> split_homes_;
  mutable std::optional<error> problem_;
  mutable bool problem_noted_ = false;
};

/// Moves an entry to its next sibling; false if it is the last. A sibling that is not later in the file would make a
/// cycle, and is an error. Errors: bad_format, limit.
[[nodiscard]] result<bool> next_sibling(const dwarf_data& data, Dwarf_Die& entry);

/// Calls `visit` with each child until it returns true. Errors: bad_format, limit.
result<void> visit_children(const dwarf_data& data, Dwarf_Die& parent,
                            const std::function<result<bool>(Dwarf_Die& child)>& visit);

/// The variable of this name. A definition is preferred to a declaration, and the unit whose code contains `near` is
/// searched first.
[[nodiscard]] result<std::optional<Dwarf_Die>> find_variable(const dwarf_data& data, std::string_view name,
                                                             std::optional<std::uint64_t> near);

/// The complete type of this tag and name, in any unit.
[[nodiscard]] result<std::optional<Dwarf_Die>> find_type_definition(const dwarf_data& data, int tag,
                                                                    std::string_view name);

}  // namespace mpiacq::debug_info
