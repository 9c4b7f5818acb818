// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <elfutils/libdw.h>

#include "dwarf/split_file.hpp"
#include "dwarf/whole_unit.hpp"

namespace mpiacq::debug_info {

class dwarf_data;

/// A unit whose program has only the skeleton.
struct skeleton_unit {
  std::string file;      ///< DW_AT_dwo_name
  std::string folder;    ///< DW_AT_comp_dir; may be empty
  std::uint64_t id = 0;  ///< equal in both files
  std::uint64_t address_base = 0;
  std::uint64_t range_base = 0;  ///< before DWARF 5
  std::uint64_t low_pc = 0;
};

/// The reference to the other part in a unit's first entry; empty if the unit is complete.
[[nodiscard]] std::optional<skeleton_unit> skeleton_in(const dwarf_data& data, Dwarf_Die& unit);

/// Finds the files of split units: the package next to the module (its name with ".dwp"), else the file that the
/// skeleton names, in the skeleton's folder or the module's. Each path is tried first in the target's file system, then
/// in ours.
class split_unit_files {
 public:
  split_unit_files(std::string module_path, std::vector<std::string> roots, std::shared_ptr<dwarf_allowance> allowance)
      : module_path_(std::move(module_path)), roots_(std::move(roots)), allowance_(std::move(allowance)) {}

  /// The unit, and its file, which owns its strings. Errors: not_found, bad_format, limit, system.
  struct found_unit {
    std::shared_ptr<split_file> file;
    split_unit unit;
  };
  [[nodiscard]] result<found_unit> find(const skeleton_unit& skeleton);

 private:
  [[nodiscard]] result<std::optional<found_unit>> find_in(const std::shared_ptr<split_file>& file,
                                                          const skeleton_unit& skeleton) const;
  [[nodiscard]] result<std::shared_ptr<split_file>> open_at(const std::string& path) const;
  [[nodiscard]] result<std::shared_ptr<split_file>> package();

  std::string module_path_;
  std::vector<std::string> roots_;
  std::shared_ptr<dwarf_allowance> allowance_;
  bool package_tried_ = false;
  std::shared_ptr<split_file> package_;
};

}  // namespace mpiacq::debug_info
