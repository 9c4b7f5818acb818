// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "code_names/code_names.hpp"

#include <algorithm>
#include <utility>

#include <elf.h>

#include "code_names/function_name.hpp"
#include "debug_files/mini_debug_info.hpp"

namespace mpiacq::elf {

code_names::code_names(std::shared_ptr<image> file, std::string path, std::vector<std::string> roots)
    : path_(std::move(path)),
      file_(std::move(file)),
      files_(module_symbols::parts_of_file(file_, path_, roots)),
      roots_(std::move(roots)) {
  for (const segment& s : file_->segments()) {
    if (s.type == PT_LOAD) code_.push_back(s);
  }
  // A page at the border of two segments is mapped for both; the executable segment decides.
  std::stable_partition(code_.begin(), code_.end(), [](const segment& s) { return (s.flags & PF_X) != 0; });
}

std::optional<std::uint64_t> code_names::link_address(std::uint64_t file_offset) const {
  for (const segment& s : code_) {
    if (file_offset >= s.offset && file_offset - s.offset < s.file_size) return s.address + (file_offset - s.offset);
  }
  return std::nullopt;
}

std::unique_ptr<code_names::dwarf> code_names::dwarf_in(image* file, const debug_file_search& search,
                                                        debug_info::with_locations locations,
                                                        std::vector<error>& problems) const {
  if (file == nullptr) return nullptr;
  auto opened = debug_info::dwarf_data::open(*file, search, roots_, locations);
  if (!opened) {
    problems.push_back(std::move(opened).error().on(path_));
    return nullptr;
  }
  return *opened ? std::make_unique<dwarf>(std::move(**opened)) : nullptr;
}

code_names::dwarf* code_names::open_dwarf(const debug_file_search& search, std::vector<error>& problems,
                                          debug_info::with_locations locations) {
  const bool is_plain = locations == debug_info::with_locations::no;
  opened_dwarf& one = is_plain ? dwarf_ : dwarf_with_locations_;
  if (one.is_tried) return one.by.get();
  one.by = dwarf_in(file_.get(), search, locations, problems);
  if (!one.by) one.by = dwarf_in(files_.debug_file(search, problems), search, locations, problems);
  if (!one.by) one.by = dwarf_in(files_.served_debug_file(search, problems), search, locations, problems);
  one.is_tried = true;  // an exception leaves it to the next caller
  return one.by.get();
}

const function_symbols& code_names::symbols(const debug_file_search& search, std::vector<error>& problems) {
  if (symbols_) return *symbols_;
  const auto read = [&](image* file, std::uint32_t type) {
    if (file == nullptr) return false;
    auto table = function_symbols::read(*file, type);
    if (!table) {
      problems.push_back(std::move(table).error().on(path_));
      return false;
    }
    if (table->empty()) return false;
    symbols_ = std::move(*table);
    return true;
  };
  const bool found = read(file_.get(), SHT_SYMTAB) || read(files_.debug_file(search, problems), SHT_SYMTAB) ||
                     read(files_.served_debug_file(search, problems), SHT_SYMTAB);
  if (found) return *symbols_;
  if (!read(file_.get(), SHT_DYNSYM)) symbols_.emplace();
  add_packed_symbols(problems);
  return *symbols_;
}

/// The packed table of a stripped file has symbols that its dynamic symbols lack.
void code_names::add_packed_symbols(std::vector<error>& problems) {
  auto packed = debug_info::open_mini_debug_info(*file_);
  if (!packed) {
    problems.push_back(std::move(packed).error().on(path_));
    return;
  }
  if (!*packed) return;
  auto table = function_symbols::read(**packed, SHT_SYMTAB);
  if (table) {
    symbols_->add(std::move(*table));
  } else {
    problems.push_back(std::move(table).error().on(path_));
  }
}

std::string code_names::name_by_symbols(std::uint64_t address, const debug_file_search& search,
                                        std::vector<error>& problems) {
  if (const auto name = symbols(search, problems).find(address)) return debug_info::function_of_symbol(*name);
  if (const auto name = function_of_stub(*file_, address)) return debug_info::function_of_symbol(*name) + "@plt";
  return {};
}

void code_names::note_fault(const error& fault, std::vector<error>& problems) {
  if (!std::exchange(dwarf_failed_, true)) problems.push_back(error(fault).on(path_));
}

template <class Ask>
auto code_names::asked(const debug_file_search& search, std::vector<error>& problems,
                       debug_info::with_locations locations, Ask ask) {
  using answer = typename decltype(ask(std::declval<debug_info::code_reader&>()))::value_type;
  dwarf* by = open_dwarf(search, problems, locations);
  if (by == nullptr) return answer{};
  auto found = ask(by->reader);
  if (auto missing = by->data.take_problem()) problems.push_back(std::move(*missing).on(path_));
  if (found) return std::move(*found);
  note_fault(found.error(), problems);
  return answer{};
}

std::optional<call_description> code_names::call_before(std::uint64_t return_address, const debug_file_search& search,
                                                        std::vector<error>& problems) {
  return asked(search, problems, debug_info::with_locations::no,
               [&](debug_info::code_reader& reader) { return reader.call_before(return_address); });
}

std::optional<parameter_places> code_names::parameters_around(std::uint64_t address, const debug_file_search& search,
                                                              std::vector<error>& problems) {
  return asked(search, problems, debug_info::with_locations::yes,
               [&](debug_info::code_reader& reader) { return reader.parameters_around(address); });
}

std::vector<code_place> code_names::describe(std::uint64_t address, const debug_file_search& search,
                                             std::vector<error>& problems) {
  std::vector<code_place> places;
  if (dwarf* by = open_dwarf(search, problems)) {
    auto found = by->reader.look_up(address);
    if (auto missing = by->data.take_problem()) problems.push_back(std::move(*missing).on(path_));
    if (!found) note_fault(found.error(), problems);
    if (found && *found) {
      for (debug_info::source_place& p : (*found)->places) {
        places.push_back({std::move(p.function), std::move(p.file), p.line, path_, {}});
      }
      if ((*found)->symbol_wanted) {
        const auto symbol = symbols(search, problems).beginning_at(*(*found)->symbol_wanted);
        const auto whole = symbol ? debug_info::demangle_cpp(debug_info::without_clone_marks(*symbol)) : std::nullopt;
        if (whole) places.back().function = *whole;
      }
    }
  }
  if (places.empty()) places.push_back({{}, {}, 0, path_, {}});
  if (places.back().function.empty()) places.back().function = name_by_symbols(address, search, problems);
  return places;
}

}  // namespace mpiacq::elf
