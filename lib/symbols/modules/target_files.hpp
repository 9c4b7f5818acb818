// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/address.hpp"

namespace mpiacq::elf {

/// Where a file can be opened, and what a person calls it.
struct file_place {
  std::string root;  ///< the folder that `path` counts from, as a process with that root sees it; empty: our own root
  std::string path;
  std::string name;
};

/// Where the files of a target are to us: a live process's through /proc, a core file's below what the caller names.
class target_files {
 public:
  virtual ~target_files() = default;

  /// The places at which the program's file may be, best first.
  [[nodiscard]] virtual std::vector<file_place> program_places() const = 0;
  /// Those of a library that the dynamic linker calls `name`; empty for one without a file.
  [[nodiscard]] virtual std::vector<file_place> library_places(const std::string& name) const = 0;
  /// The very file that is mapped at an address, whatever has become of its name; empty where it cannot be had.
  [[nodiscard]] virtual std::optional<file_place> mapped_at(target_address address, const std::string& name) const = 0;
  /// What the system calls the file that is mapped at an address; empty where there is none.
  [[nodiscard]] virtual std::string name_at(target_address address) const = 0;
  /// Folders under which the target sees its files, besides this process's own root: see debug_file_wanted.
  [[nodiscard]] virtual std::vector<std::string> roots() const = 0;
};

}  // namespace mpiacq::elf
