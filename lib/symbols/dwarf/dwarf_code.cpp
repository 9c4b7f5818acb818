// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/dwarf_code.hpp"

#include <algorithm>
#include <functional>

#include <dwarf.h>
#include <fmt/format.h>

#include "dwarf/dwarf_call_sites.hpp"
#include "dwarf/dwarf_parameters.hpp"
#include "dwarf/entry_walk.hpp"
#include "errors/try.hpp"

namespace mpiacq::debug_info {

namespace {

/// Calls `visit` with the ranges of an entry's code until it returns true. Entries can share long lists, and a file can
/// have many of both. Errors: limit.
result<void> visit_ranges(const dwarf_data& data, const Dwarf_Die& entry,
                          const std::function<bool(std::uint64_t begin, std::uint64_t end)>& visit) {
  Dwarf_Die at = entry;
  Dwarf_Addr base = 0;
  Dwarf_Addr begin = 0;
  Dwarf_Addr end = 0;
  for (std::ptrdiff_t next = 0; (next = dwarf_ranges(&at, next, &base, &begin, &end)) > 0;) {
    if (auto taken = data.take_steps(1); !taken) return taken;
    if (begin < end && visit(begin, end)) return {};
  }
  return {};
}

bool is_scope(int tag) {
  return tag == DW_TAG_namespace || tag == DW_TAG_module;
}

/// The code of methods is elsewhere, unless their class is in a function.
bool is_class(int tag) {
  return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

bool has_code(const Dwarf_Die& entry) {
  Dwarf_Die at = entry;
  return dwarf_hasattr(&at, DW_AT_low_pc) != 0 || dwarf_hasattr(&at, DW_AT_ranges) != 0 ||
         dwarf_hasattr(&at, DW_AT_entry_pc) != 0;
}

/// The entry address of a function: compilers write the range with the entry first.
std::optional<std::uint64_t> beginning_of(const dwarf_data& data, const Dwarf_Die& function) {
  std::optional<std::uint64_t> first;
  const auto visited = visit_ranges(data, function, [&](std::uint64_t begin, std::uint64_t) {
    first = begin;
    return true;
  });
  return visited ? first : std::nullopt;
}

void sort_by_address(std::vector<function_range>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const function_range& a, const function_range& b) { return a.begin < b.begin; });
}

/// The smallest range around an address. A function that the linker has removed keeps a range that begins at 0.
const function_range* around(const std::vector<function_range>& ranges, std::uint64_t address) {
  constexpr std::ptrdiff_t furthest_back = 4096;
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), address,
                                      [](std::uint64_t a, const function_range& r) { return a < r.begin; });
  const function_range* best = nullptr;
  const auto stop = after - std::min(after - ranges.begin(), furthest_back);
  for (auto at = after; at != stop;) {
    --at;
    if (address < at->end && (best == nullptr || at->end - at->begin < best->end - best->begin)) best = &*at;
  }
  return best;
}

}  // namespace

/// Whether an entry's code contains an address; false for an entry without code, and if the allowance is used up.
bool code_reader::holds(const Dwarf_Die& entry, std::uint64_t address) {
  if (!has_code(entry)) return false;
  bool found = false;
  const auto visited = visit_ranges(
      data_, entry, [&](std::uint64_t begin, std::uint64_t end) { return found = address >= begin && address < end; });
  return visited && found;
}

/// Uses the units' own ranges, because not every compiler writes .debug_aranges.
result<void> code_reader::read_unit_ranges() {
  if (unit_ranges_read_) return {};
  unit_ranges_read_ = true;
  auto read = data_.visit_units([&](Dwarf_Die& unit) -> result<bool> {
    const int tag = dwarf_tag(&unit);
    if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) return false;
    const Dwarf_Off entry = dwarf_dieoffset(&unit);
    const std::size_t before = unit_ranges_.size();
    auto ranges = visit_ranges(data_, unit, [&](std::uint64_t begin, std::uint64_t end) {
      unit_ranges_.push_back({begin, end, entry});
      return false;
    });
    if (ranges) ranges = data_.take_memory((unit_ranges_.size() - before) * sizeof(unit_range));
    if (!ranges) return fail(std::move(ranges).error());
    return false;
  });
  std::sort(unit_ranges_.begin(), unit_ranges_.end(),
            [](const unit_range& a, const unit_range& b) { return a.begin < b.begin; });
  return read;
}

result<std::optional<Dwarf_Die>> code_reader::unit_of(std::uint64_t address) {
  Dwarf_Aranges* table = nullptr;
  std::size_t count = 0;
  Dwarf_Die unit;
  if (dwarf_getaranges(data_.get(), &table, &count) == 0 && table != nullptr) {
    Dwarf_Arange* hit = dwarf_getarange_addr(table, address);
    Dwarf_Off entry = 0;
    if (hit != nullptr && dwarf_getarangeinfo(hit, nullptr, nullptr, &entry) == 0 &&
        dwarf_offdie(data_.get(), entry, &unit) != nullptr) {
      return unit;
    }
  }
  // The entries before an error are used; the error itself is reported once.
  auto read = read_unit_ranges();
  auto after = std::upper_bound(unit_ranges_.begin(), unit_ranges_.end(), address,
                                [](std::uint64_t a, const unit_range& r) { return a < r.begin; });
  constexpr int furthest_back = 64;
  for (int steps = 0; after != unit_ranges_.begin() && steps < furthest_back; ++steps) {
    --after;
    if (address < after->end && dwarf_offdie(data_.get(), after->entry, &unit) != nullptr) return unit;
  }
  if (!read) return fail(std::move(read).error());
  return std::nullopt;
}

result<std::optional<Dwarf_Die>> code_reader::function_at(Dwarf_Die& unit, std::uint64_t address) {
  const auto [place, is_new] = functions_.try_emplace(dwarf_dieoffset(&unit));
  unit_functions& known = place->second;
  const auto read = [&](std::vector<function_range>& into, bool within_functions) {
    auto walked = walk_below(data_, unit, [&](Dwarf_Die& entry) -> result<walk_step> {
      const int tag = dwarf_tag(&entry);
      const walk_step inside = within_functions ? walk_step::into : walk_step::over;
      if (is_scope(tag)) return walk_step::into;
      if (tag != DW_TAG_subprogram) return is_block(tag) || is_class(tag) ? inside : walk_step::over;
      if (!has_code(entry)) return inside;
      const std::size_t before = into.size();
      auto ranges = visit_ranges(data_, entry, [&](std::uint64_t begin, std::uint64_t end) {
        into.push_back({begin, end, dwarf_dieoffset(&entry)});
        return false;
      });
      if (ranges) ranges = data_.take_memory((into.size() - before) * sizeof(function_range));
      if (!ranges) return fail(std::move(ranges).error());
      return inside;
    });
    sort_by_address(into);
    return walked;
  };
  const auto find = [&](const std::vector<function_range>& in) -> std::optional<Dwarf_Die> {
    const function_range* found = around(in, address);
    Dwarf_Die function;
    if (found == nullptr || dwarf_offdie(data_.get(), found->entry, &function) == nullptr) return std::nullopt;
    return function;
  };
  result<void> walked;
  if (is_new) walked = read(known.top, false);
  if (auto function = find(known.top)) return function;
  // Methods of a class within a function have code of their own, described at their declaration.
  if (walked && !known.nested_read) {
    known.nested_read = true;
    walked = read(known.nested, true);
  }
  if (auto function = find(known.nested)) return function;
  if (!walked) return fail(std::move(walked).error());
  return std::nullopt;
}

/// The function and its inlined calls that contain the address, outermost first.
result<std::vector<Dwarf_Die>> code_reader::chain_in(const Dwarf_Die& function, std::uint64_t address) {
  std::vector<Dwarf_Die> chain = {function};
  Dwarf_Die parent = function;
  for (std::size_t depth = 0; depth < deepest_entry; ++depth) {
    std::optional<Dwarf_Die> inner;
    auto walked = walk_below(data_, parent, [&](Dwarf_Die& entry) -> result<walk_step> {
      const int tag = dwarf_tag(&entry);
      // A block without addresses has the code of its parent.
      if (is_block(tag)) return !has_code(entry) || holds(entry, address) ? walk_step::into : walk_step::over;
      if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) || !holds(entry, address))
        return walk_step::over;
      inner = entry;
      return walk_step::stop;
    });
    if (!walked) return fail(std::move(walked).error());
    if (!inner) return chain;
    // A nested function is not a part of an inlined call.
    if (dwarf_tag(&*inner) == DW_TAG_subprogram) chain.clear();
    chain.push_back(*inner);
    parent = *inner;
  }
  return chain;
}

code_reader& code_reader::reader_of(Dwarf_Die& unit) {
  const dwarf_data* part = data_.split_part(unit);
  if (part == nullptr) return *this;
  auto& reader = parts_[part];
  if (!reader) reader = std::make_unique<code_reader>(*part);
  return *reader;
}

result<std::optional<code_reader::function_place>> code_reader::function_around(std::uint64_t address) {
  auto unit = TRY(unit_of(address));
  if (!unit) return std::nullopt;
  code_reader& reader = reader_of(*unit);
  Dwarf_Die whole = data_.whole_unit(*unit);
  const auto function = TRY(reader.function_at(whole, address));
  if (!function) return std::nullopt;
  return function_place{&reader.data_, *function};
}

result<std::optional<call_description>> code_reader::call_before(std::uint64_t return_address) {
  const auto place = TRY(function_around(return_address - 1));
  if (!place) return std::nullopt;
  return call_site_in(*place->data, place->function, return_address);
}

result<std::optional<parameter_places>> code_reader::parameters_around(std::uint64_t address) {
  const auto place = TRY(function_around(address));
  if (!place) return std::nullopt;
  return parameters_at(*place->data, place->function, address);
}

result<std::optional<code_description>> code_reader::look_up(std::uint64_t address) {
  auto unit = TRY(unit_of(address));
  if (!unit) return std::nullopt;
  code_description found;
  source_place here;
  // A function without lines is a useful answer, and so are lines without a function.
  auto line = line_at(data_, *unit, address);
  if (line) {
    here = std::move(*line);
  } else if (line.error().code == error_code::limit) {
    data_.note_problem(std::move(line).error());
  }
  // For a split unit, the skeleton has the lines, and the other part has the functions.
  code_reader& reader = reader_of(*unit);
  Dwarf_Die whole = data_.whole_unit(*unit);
  auto function = reader.function_at(whole, address);
  if (!function || !*function) {
    if (here.line == 0) {
      if (!function) return fail(std::move(function).error());
      return std::nullopt;
    }
    found.places.push_back(std::move(here));
    return found;
  }
  auto chain = reader.chain_in(**function, address);
  if (!chain) chain = std::vector<Dwarf_Die>{**function};
  for (std::size_t i = chain->size(); i-- > 0;) {
    function_name name = name_of_function(reader.data_, (*chain)[i]);
    here.function = std::move(name.text);
    found.places.push_back(std::move(here));
    here = {};
    if (i != 0) {
      if (auto call = call_of(data_, *unit, (*chain)[i])) here = std::move(*call);
    } else if (!name.is_whole) {
      found.symbol_wanted = beginning_of(reader.data_, (*chain)[i]);
    }
  }
  return found;
}

}  // namespace mpiacq::debug_info
