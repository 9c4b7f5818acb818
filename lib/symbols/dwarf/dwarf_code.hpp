// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dwarf/dwarf_data.hpp"
#include "mpiacq/process/call_description.hpp"

namespace mpiacq::debug_info {

/// One function at an address, by DWARF.
struct source_place {
  std::string function;  ///< empty if DWARF has no name
  std::string file;
  std::uint32_t line = 0;
};

/// The information of DWARF about one address.
struct code_description {
  std::vector<source_place> places;  ///< innermost first; only the last is not inlined
  /// The address of the last place's function, if DWARF has no linkage name for a C++ function; the symbol table may
  /// have one.
  std::optional<std::uint64_t> symbol_wanted;
};

/// A function of a unit, and one range of its code.
struct function_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  Dwarf_Off entry = 0;
};

/// Looks addresses up in the DWARF of one file. The first query in a unit reads the ranges of its functions and its
/// line table; other units are not read. Thread: one at a time.
class code_reader {
 public:
  /// `data` must outlive this object.
  explicit code_reader(const dwarf_data& data) : data_(data) {}

  /// Empty if no unit contains the link-time address. Errors: bad_format, limit.
  [[nodiscard]] result<std::optional<code_description>> look_up(std::uint64_t address);
  /// The description of the call that returns to a link-time address; empty if there is none. Errors: bad_format,
  /// limit.
  [[nodiscard]] result<std::optional<call_description>> call_before(std::uint64_t return_address);
  /// Where the parameters of the function around a link-time address are there; empty if they are not described.
  /// Errors: bad_format, limit.
  [[nodiscard]] result<std::optional<parameter_places>> parameters_around(std::uint64_t address);

 private:
  /// A function, and the part of the debug information that describes it: of a split unit, its own file.
  struct function_place {
    const dwarf_data* data;
    Dwarf_Die function;
  };
  struct unit_functions {
    std::vector<function_range> top;  ///< outside of other functions, by address
    /// within other functions; filled in when no range of `top` contains an address
    std::vector<function_range> nested;
    bool nested_read = false;
  };
  struct unit_range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    Dwarf_Off entry = 0;
  };

  [[nodiscard]] result<std::optional<Dwarf_Die>> unit_of(std::uint64_t address);
  [[nodiscard]] result<void> read_unit_ranges();
  [[nodiscard]] result<std::optional<Dwarf_Die>> function_at(Dwarf_Die& unit, std::uint64_t address);
  /// The outermost function around a link-time address; empty if none is described there.
  [[nodiscard]] result<std::optional<function_place>> function_around(std::uint64_t address);
  [[nodiscard]] result<std::vector<Dwarf_Die>> chain_in(const Dwarf_Die& function, std::uint64_t address);
  [[nodiscard]] bool holds(const Dwarf_Die& entry, std::uint64_t address);

  /// The reader of a unit's functions: another one if the unit is split.
  [[nodiscard]] code_reader& reader_of(Dwarf_Die& unit);

  const dwarf_data& data_;
  std::unordered_map<const dwarf_data*, std::unique_ptr<code_reader>> parts_;
  bool unit_ranges_read_ = false;
  std::vector<unit_range> unit_ranges_;
  std::unordered_map<Dwarf_Off, unit_functions> functions_;
};

/// The name of a function. `is_whole`: the name is complete.
struct function_name {
  std::string text;
  bool is_whole = true;
};
[[nodiscard]] function_name name_of_function(const dwarf_data& data, const Dwarf_Die& function);

/// The source line of an instruction by the line table of its unit: its file and line; `function` stays empty. Errors:
/// bad_format, limit.
[[nodiscard]] result<source_place> line_at(const dwarf_data& data, Dwarf_Die& unit, std::uint64_t address);
/// The place of an inlined call, by its entry's DW_AT_call_file and DW_AT_call_line. Errors: bad_format, limit.
[[nodiscard]] result<source_place> call_of(const dwarf_data& data, Dwarf_Die& unit, Dwarf_Die& inlined);

}  // namespace mpiacq::debug_info
