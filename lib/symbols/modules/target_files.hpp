// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/address.hpp"

namespace mpiacq::elf {

/// Where a file can be opened, and its name for a person.
struct file_place {
  std::string root;  ///< the folder that `path` is relative to, as for a process with that root; empty: our own root
  std::string path;
  std::string name;
};

/// Where the files of a target are for this process: for a live process through /proc, for a core file below the folder
/// that the caller names.
class target_files {
 public:
  virtual ~target_files() = default;

  /// The possible places of the program's file, best first.
  [[nodiscard]] virtual std::vector<file_place> program_places() const = 0;
  /// The possible places of a library that the dynamic linker calls `name`; empty for a module without a file.
  [[nodiscard]] virtual std::vector<file_place> library_places(const std::string& name) const = 0;
  /// The file that is mapped at an address, even if its name has changed; empty if it is not available.
  [[nodiscard]] virtual std::optional<file_place> mapped_at(target_address address, const std::string& name) const = 0;
  /// The kernel's name of the file that is mapped at an address; empty if there is none.
  [[nodiscard]] virtual std::string name_at(target_address address) const = 0;
  /// The folders below which the target has its files, in addition to this process's own root: see debug_file_wanted.
  [[nodiscard]] virtual std::vector<std::string> roots() const = 0;
};

}  // namespace mpiacq::elf
