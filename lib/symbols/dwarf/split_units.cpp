// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "dwarf/split_units.hpp"

#include <dwarf.h>
#include <fmt/format.h>

#include "debug_files/debug_files.hpp"
#include "dwarf/dwarf_data.hpp"
#include "errors/try.hpp"
#include "text/file_name.hpp"

namespace mpiacq::debug_info {

namespace {

std::uint64_t number_at(Dwarf_Die& unit, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  return dwarf_attr(&unit, name, &attribute) != nullptr && dwarf_formudata(&attribute, &value) == 0 ? value : 0;
}

}  // namespace

std::optional<skeleton_unit> skeleton_in(const dwarf_data& data, Dwarf_Die& unit) {
  skeleton_unit found;
  found.file = data.string_of(unit, DW_AT_dwo_name);
  const bool is_newer = !found.file.empty();
  if (!is_newer) found.file = data.string_of(unit, DW_AT_GNU_dwo_name);
  if (found.file.empty() || unit.cu == nullptr) return std::nullopt;
  found.folder = data.string_of(unit, DW_AT_comp_dir);
  if (is_newer) {
    // libdw does not look for the other part if the skeleton has no name for it.
    if (dwarf_cu_info(unit.cu, nullptr, nullptr, nullptr, nullptr, &found.id, nullptr, nullptr) != 0) {
      return std::nullopt;
    }
    found.address_base = number_at(unit, DW_AT_addr_base);
  } else {
    found.id = number_at(unit, DW_AT_GNU_dwo_id);
    found.address_base = number_at(unit, DW_AT_GNU_addr_base);
    found.range_base = number_at(unit, DW_AT_GNU_ranges_base);
  }
  Dwarf_Addr low = 0;
  if (dwarf_lowpc(&unit, &low) == 0) found.low_pc = low;
  return found;
}

result<std::shared_ptr<split_file>> split_unit_files::open_at(const std::string& path) const {
  std::vector<std::string> roots = roots_;
  roots.emplace_back();
  std::optional<error> why;
  for (const std::string& root : roots) {
    auto file = elf::input_file::open_below(root, path, root + path);
    if (!file) {
      if (file.error().code != error_code::not_found) why = std::move(file).error();
      continue;
    }
    auto opened = TRY(elf::image::open(std::move(*file)));
    auto split = TRY(split_file::open(std::move(opened), allowance_));
    return std::shared_ptr<split_file>{std::move(split)};
  }
  if (why) return fail(std::move(*why));
  return nullptr;
}

/// The package of the module; null if there is none. The reason why a package is not used is reported once.
result<std::shared_ptr<split_file>> split_unit_files::package() {
  if (package_tried_) return package_;
  package_tried_ = true;
  constexpr std::string_view of_debug_file = ".debug";
  std::vector<std::string> names = {module_path_ + ".dwp"};
  if (module_path_.ends_with(of_debug_file)) {
    names.push_back(module_path_.substr(0, module_path_.size() - of_debug_file.size()) + ".dwp");
  }
  for (const std::string& name : names) {
    auto opened = TRY(open_at(name));
    package_ = std::move(opened);
    if (package_) break;
  }
  return package_;
}

result<std::optional<split_unit_files::found_unit>> split_unit_files::find_in(const std::shared_ptr<split_file>& file,
                                                                              const skeleton_unit& skeleton) const {
  auto unit = TRY(file->find(skeleton.id));
  if (!unit) return std::nullopt;
  return found_unit{file, std::move(*unit)};
}

result<split_unit_files::found_unit> split_unit_files::find(const skeleton_unit& skeleton) {
  auto in_package = TRY(package());
  if (in_package) {
    auto found = TRY(find_in(in_package, skeleton));
    if (found) return std::move(*found);
  }
  const std::string& name = skeleton.file;
  std::vector<std::string> paths;
  if (name.starts_with('/'))
    paths.push_back(name);
  else if (!skeleton.folder.empty())
    paths.push_back(skeleton.folder + "/" + name);
  paths.push_back(fmt::format("{}{}", base::folder_of(module_path_), base::file_name_of(name)));
  for (const std::string& path : paths) {
    auto file = TRY(open_at(path));
    if (!file) continue;
    auto found = TRY(find_in(file, skeleton));
    if (found) return std::move(*found);
  }
  return fail(
      error{error_code::not_found,
            fmt::format("the debug information of {} is split, and its part {} is not found (it is looked for as "
                        "{}, and in {}.dwp): the functions and types in it have no names from there",
                        module_path_, name, paths.front(), module_path_)}
          .on(name));
}

}  // namespace mpiacq::debug_info
