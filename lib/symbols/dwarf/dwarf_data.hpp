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

#include "dwarf/dwarf_allowance.hpp"
#include "dwarf/dwarf_costs.hpp"
#include "dwarf/split_units.hpp"
#include "elf/elf_image.hpp"
#include "elf/memory_elf.hpp"
#include "mpiacq/process/process_symbols.hpp"

namespace mpiacq::debug_info {

/// Typedefs and qualifiers on the way to a type; more are no program's.
inline constexpr int max_type_chain = 64;

/// The DWARF of one file, through libdw. The image must outlive it.
class dwarf_data {
 public:
  /// Empty where the file has no `.debug_info`. Errors: bad_format, not_found (the file that it shares with others),
  /// limit (what dwarf_allowance says).
  [[nodiscard]] static result<std::optional<dwarf_data>> open(elf::image& file, const debug_file_search& search,
                                                              std::span<const std::string> roots);

  [[nodiscard]] Dwarf* get() const { return dwarf_.get(); }
  [[nodiscard]] const std::string& file_name() const { return *file_name_; }
  /// bad_format with libdw's own words.
  [[nodiscard]] tl::unexpected<error> broken(std::string_view doing_what) const;

  /// An entry's name; empty where it has none, or one that does not end within its section: libdw gives out pointers
  /// to strings whose end it has not looked for.
  [[nodiscard]] std::string_view name_of(Dwarf_Die& entry) const;
  /// The same of any attribute that is a string, of the entry or of what it completes or is an instance of.
  [[nodiscard]] std::string_view string_of(const Dwarf_Die& entry, unsigned attribute) const;

  /// Whether the name stands anywhere in what this file and the one that it shares with others can name things by.
  /// Where it does not, no entry need be read.
  [[nodiscard]] bool may_name(std::string_view name) const;

  /// What it shares with others, or null.
  [[nodiscard]] const dwarf_data* shared() const { return shared_.get(); }

  /// Whether the line table at an offset of `.debug_line` may be read. Errors: limit.
  [[nodiscard]] result<void> take_lines(std::uint64_t offset) const;
  /// Whether the entries below one may be looked at; to be asked before. Errors: limit.
  [[nodiscard]] result<void> take_unit_of(const Dwarf_Die& entry) const;
  /// So many steps through entries or ranges, so many bytes of memory that are kept for what is found. Errors: limit.
  [[nodiscard]] result<void> take_steps(std::uint64_t steps) const;
  [[nodiscard]] result<void> take_memory(std::uint64_t bytes) const;

  /// The rest of a unit whose first entry is only a skeleton, from its .dwo or .dwp file; null where the unit is whole,
  /// and where its rest cannot be had (see `take_problem`). It lives as long as this.
  [[nodiscard]] const dwarf_data* split_part(Dwarf_Die& unit) const;
  /// The first entry of the whole unit: of its split part, if there is one, else `unit` itself. Its entries can be
  /// asked for through this.
  [[nodiscard]] Dwarf_Die whole_unit(Dwarf_Die unit) const;
  /// The first thing that made an answer less than it could be (a split part that is missing, lines that cost too
  /// much); once.
  [[nodiscard]] std::optional<error> take_problem() const { return std::exchange(problem_, std::nullopt); }
  void note_problem(error e) const {
    if (!std::exchange(problem_noted_, true)) problem_ = std::move(e);
  }

  /// The entry that a reference leads to, in this file or the one that it shares with others; empty where it leads
  /// nowhere.
  [[nodiscard]] std::optional<Dwarf_Die> follow(Dwarf_Attribute& reference) const;
  /// An attribute of an entry, or of the entry that it completes or is an instance of; false where none has it.
  [[nodiscard]] bool find_attribute(const Dwarf_Die& entry, unsigned name, Dwarf_Attribute& into) const;

  /// Calls `visit` with the top entry of each unit until it gives true.
  result<void> visit_units(const std::function<result<bool>(Dwarf_Die& unit)>& visit) const;

 private:
  /// Where strings can stand.
  using extent = std::span<const char>;

  explicit dwarf_data(std::shared_ptr<dwarf_allowance> allowance) : allowance_(std::move(allowance)) {}
  [[nodiscard]] result<void> open_handles(elf::image& file);
  [[nodiscard]] result<void> open_split_part(const skeleton_unit& skeleton, const dwarf_data& home);
  /// Which of this, what it shares, and its split parts an entry belongs to.
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
  std::unique_ptr<elf::memory_elf> copy_;  ///< what `elf_` reads, unless the file is mapped
  std::unique_ptr<Elf, end_elf> elf_;
  std::unique_ptr<Dwarf, end_dwarf> dwarf_;
  const std::string* file_name_ = nullptr;
  byte_order order_ = byte_order::little;
  std::vector<extent> strings_;
  std::vector<extent> names_;  ///< of these, where entries' names stand
  extent addresses_;           ///< .debug_addr
  extent ranges_;              ///< .debug_ranges
  mutable dwarf_costs costs_;  ///< what libdw keeps of this file
  // What several files share (dwz). libdw would look for it by itself, but open whatever the name leads to.
  std::unique_ptr<elf::image> shared_image_;
  std::unique_ptr<dwarf_data> shared_;
  // Units that are split.
  target_abi abi_;
  std::string split_name_;  ///< of a split part's file
  std::unique_ptr<split_unit_files> split_files_;
  mutable std::unordered_map<Dwarf_Off, std::unique_ptr<dwarf_data>> split_parts_;  ///< by their skeletons
  mutable std::unordered_map<Dwarf*, const dwarf_data*> split_homes_;
  mutable std::optional<error> problem_;
  mutable bool problem_noted_ = false;
};

/// Moves an entry to its next sibling; false where it is the last. A sibling that does not come later in the file would
/// lead round in circles, and is an error. Errors: bad_format, limit.
[[nodiscard]] result<bool> next_sibling(const dwarf_data& data, Dwarf_Die& entry);

/// Calls `visit` with each child until it gives true. Errors: bad_format, limit.
result<void> visit_children(const dwarf_data& data, Dwarf_Die& parent,
                            const std::function<result<bool>(Dwarf_Die& child)>& visit);

/// The variable of this name: its definition rather than a declaration, first in the unit whose code holds `near`.
[[nodiscard]] result<std::optional<Dwarf_Die>> find_variable(const dwarf_data& data, std::string_view name,
                                                             std::optional<std::uint64_t> near);

/// The complete type of this tag and name, whichever unit defines it.
[[nodiscard]] result<std::optional<Dwarf_Die>> find_type_definition(const dwarf_data& data, int tag,
                                                                    std::string_view name);

}  // namespace mpiacq::debug_info
