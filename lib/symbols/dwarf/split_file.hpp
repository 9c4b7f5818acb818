// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dwarf/dwarf_allowance.hpp"
#include "dwarf/dwarf_units.hpp"
#include "elf/elf_image.hpp"

/// Split DWARF (DWARF 5, 7.3.2; before that, GNU's DebugFission): the compiler writes most of a unit's debug
/// information into a file of its own (.dwo), and a skeleton of the unit into the program. A package (.dwp) contains
/// the units of many such files, with an index.
namespace mpiacq::debug_info {

/// The sections of a split unit.
enum class split_section : unsigned char { info, abbreviations, strings, string_offsets, ranges };
inline constexpr std::size_t split_sections = 5;

/// Copies of a split file's contents for one unit.
struct split_unit {
  unit_header header;
  std::vector<std::byte> info;  ///< from its header on
  std::vector<std::byte> abbreviations;
  std::vector<std::byte> string_offsets;
  std::vector<std::byte> ranges;       ///< .debug_rnglists.dwo
  std::span<const std::byte> strings;  ///< of the file, which must outlive this object
};

/// An open .dwo or .dwp file. Reads are counted in the allowance.
class split_file {
 public:
  /// Errors: bad_format (it has no split units), limit, system.
  [[nodiscard]] static result<std::unique_ptr<split_file>> open(elf::image file,
                                                                std::shared_ptr<dwarf_allowance> allowance);

  [[nodiscard]] const std::string& name() const { return file_.file().name(); }
  [[nodiscard]] byte_order order() const { return file_.abi().order; }

  /// The unit with this id (DW_AT_dwo_id, or in the header); empty if the file lacks it. Errors: bad_format, limit,
  /// system.
  [[nodiscard]] result<std::optional<split_unit>> find(std::uint64_t id);

 private:
  /// The position of a unit's part of a section.
  struct extent {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  using extents = std::array<extent, split_sections>;

  split_file(elf::image file, std::shared_ptr<dwarf_allowance> allowance)
      : file_(std::move(file)), allowance_(std::move(allowance)) {}
  [[nodiscard]] result<void> find_sections();
  [[nodiscard]] result<std::optional<extents>> find_in_index(std::uint64_t id);
  [[nodiscard]] result<std::optional<extents>> find_in_units(std::uint64_t id);
  [[nodiscard]] result<std::span<const std::byte>> whole(split_section which);
  [[nodiscard]] result<std::vector<std::byte>> part(split_section which, extent of);
  [[nodiscard]] tl::unexpected<error> broken(const std::string& what) const;

  elf::image file_;
  std::shared_ptr<dwarf_allowance> allowance_;
  std::array<std::optional<elf::section>, split_sections> sections_;
  std::array<std::optional<std::vector<std::byte>>, split_sections> read_;
  std::optional<std::vector<std::byte>> index_;
};

/// The id of a unit: since DWARF 5 in its header, before that an attribute of its first entry. Empty if it has none.
/// `unit` begins with the header, `table` with the unit's abbreviations.
[[nodiscard]] std::optional<std::uint64_t> number_of_split_unit(const unit_header& header,
                                                                std::span<const std::byte> unit,
                                                                std::span<const std::byte> table, byte_order order);

/// The offset of an attribute's value in a unit's first entry, from the unit's beginning; empty if the entry has no
/// attribute of that name and form.
[[nodiscard]] std::optional<std::size_t> place_in_first_entry(const unit_header& header,
                                                              std::span<const std::byte> unit,
                                                              std::span<const std::byte> table, byte_order order,
                                                              std::uint64_t name, std::uint64_t form);

}  // namespace mpiacq::debug_info
