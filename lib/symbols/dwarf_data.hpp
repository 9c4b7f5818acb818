// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <elfutils/libdw.h>

#include "elf_image.hpp"
#include "mpiacq/process_symbols.hpp"

namespace mpiacq::debug_info {

/// Typedefs and qualifiers on the way to a type; more are no program's.
inline constexpr int max_type_chain = 64;

/// The DWARF of one file, through libdw. The image must outlive it.
class dwarf_data {
 public:
  /// Empty where the file has no `.debug_info`. Errors: bad_format, not_found (the file that it shares with others).
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

  /// How many bytes the line program at an offset of `.debug_line` claims to have; 0 where there is none.
  [[nodiscard]] std::uint64_t line_program_size(std::uint64_t offset) const;

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

  dwarf_data() = default;
  [[nodiscard]] result<void> open_handles(elf::image& file);
  [[nodiscard]] result<void> open_shared_file(elf::image& file, const debug_file_search& search,
                                              std::span<const std::string> roots);
  [[nodiscard]] result<void> check_compressed_sizes() const;
  [[nodiscard]] result<void> check_strings_end() const;
  void note_string_sections();

  struct end_elf {
    void operator()(Elf* e) const { elf_end(e); }
  };
  struct end_dwarf {
    void operator()(Dwarf* d) const { dwarf_end(d); }
  };
  std::unique_ptr<Elf, end_elf> elf_;
  std::unique_ptr<Dwarf, end_dwarf> dwarf_;
  const std::string* file_name_ = nullptr;
  byte_order order_ = byte_order::little;
  std::vector<extent> strings_;
  std::vector<extent> names_;  ///< of these, where entries' names stand
  extent line_programs_;
  // What several files share (dwz). libdw would look for it by itself, but open whatever the name leads to.
  std::unique_ptr<elf::image> shared_image_;
  std::unique_ptr<dwarf_data> shared_;
};

/// Calls `visit` with each child until it gives true. Errors: bad_format.
result<void> visit_children(const dwarf_data& data, Dwarf_Die& parent,
                            const std::function<result<bool>(Dwarf_Die& child)>& visit);

/// The variable of this name: its definition rather than a declaration, first in the unit whose code holds `near`.
[[nodiscard]] result<std::optional<Dwarf_Die>> find_variable(const dwarf_data& data, std::string_view name,
                                                             std::optional<std::uint64_t> near);

/// The complete type of this tag and name, whichever unit defines it.
[[nodiscard]] result<std::optional<Dwarf_Die>> find_type_definition(const dwarf_data& data, int tag,
                                                                    std::string_view name);

}  // namespace mpiacq::debug_info
