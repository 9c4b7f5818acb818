// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "elf/dynamic_section.hpp"
#include "elf/elf_image.hpp"
#include "elf/image_memory.hpp"
#include "modules/ld_so_cache.hpp"

namespace mpiacq::elf {

/// A file that the dynamic linker would load, at its link-time addresses.
struct loaded_file {
  std::string path;
  std::shared_ptr<image> file;
  std::shared_ptr<image_memory> memory;
  std::optional<target_address> dynamic_address;
  dynamic_section dynamic;  ///< empty in a static program
};

/// Opens a file and reads its dynamic section. Errors: those of `input_file::open`, and bad_format.
[[nodiscard]] result<loaded_file> load_file(const std::string& path);

/// Finds the libraries that a program would load, without running it, in the search order of ld.so(8).
class library_search {
 public:
  /// `program` must outlive this object.
  library_search(const loaded_file& program, ld_so_cache cache);

  /// The libraries of the program and their libraries, breadth first, each once: the order in which the dynamic linker
  /// binds symbols. Missing libraries go to `problems`.
  [[nodiscard]] std::vector<loaded_file> all_libraries(std::vector<error>& problems);

 private:
  [[nodiscard]] std::optional<loaded_file> find(const std::string& library, const loaded_file& dependent);
  [[nodiscard]] std::vector<std::string> candidates(const std::string& library, const loaded_file& dependent) const;

  const loaded_file& program_;
  ld_so_cache cache_;
  std::vector<std::string> environment_folders_;  ///< LD_LIBRARY_PATH
  std::vector<std::string> default_folders_;
};

}  // namespace mpiacq::elf
