// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dwarf/dwarf_types.hpp"
#include "modules/module_symbols.hpp"

namespace mpiacq::elf {

/// The types of one file, by its DWARF or that of its debug file; the first query opens both.
///
/// Thread: `lock` is held around everything, because libdw is not thread-safe.
class file_types {
 public:
  /// `path` is the module's path as a person knows it; `roots` as in debug_file_wanted.
  file_types(std::shared_ptr<image> file, std::string path, std::vector<std::string> roots);

  /// As `type_source::type_named`. `ask_server`: whether debuginfod may be asked. Faults of the files go to `problems`.
  [[nodiscard]] std::optional<structure_layout> find(std::string_view name, source_language language, bool ask_server,
                                                     const debug_file_search& search, std::vector<error>& problems);
  /// Whether there is debug information in the file or in a debug file on this machine.
  [[nodiscard]] bool has_types(const debug_file_search& search, std::vector<error>& problems);

  std::mutex lock;

 private:
  struct dwarf {
    debug_info::dwarf_data data;
    debug_info::type_index index;
    layout_source source;
    std::string file_name;
    dwarf(debug_info::dwarf_data opened, layout_source from)
        : data(std::move(opened)), index(data), source(from), file_name(data.file_name()) {}
  };

  [[nodiscard]] std::unique_ptr<dwarf> dwarf_in(image* file, layout_source source, const debug_file_search& search,
                                                std::vector<error>& problems) const;
  void open(bool ask_server, const debug_file_search& search, std::vector<error>& problems);

  std::string path_;
  std::vector<std::string> roots_;
  std::shared_ptr<image> file_;
  module_symbols files_;  ///< finds and opens the debug files
  bool tried_here_ = false;
  bool tried_server_ = false;
  std::unique_ptr<dwarf> dwarf_;
  std::unordered_map<std::string, std::optional<structure_layout>> answers_;
};

}  // namespace mpiacq::elf
