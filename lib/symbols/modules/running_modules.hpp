// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "modules/running_program.hpp"

namespace mpiacq::elf {

/// The modules of a process that runs, or ran when its core was taken: its program, then the modules of its dynamic
/// linker's list, in that order.
class running_modules {
 public:
  /// `memory` and `files` must outlive this object.
  running_modules(running_program program, memory_reader& memory, const target_files& files, debug_file_search search);

  /// Reads the list; true if a module came or went. Faults of the list go to `problems`. Errors: only errors that
  /// concern the whole target.
  [[nodiscard]] result<bool> read_list(bool even_if_being_changed);

  [[nodiscard]] const running_program& program() const { return program_; }
  [[nodiscard]] std::optional<target_address> link_map_breakpoint() const { return r_brk_; }
  [[nodiscard]] std::span<const std::shared_ptr<const module>> modules() const { return modules_; }
  [[nodiscard]] std::span<const std::unique_ptr<module_symbols>> sources() const { return sources_; }
  [[nodiscard]] const debug_file_search& search() const { return search_; }
  [[nodiscard]] std::vector<error>& problems() { return problems_; }

  [[nodiscard]] bool executable_is_stripped() { return sources_.front()->is_stripped(search_, problems_); }

 private:
  [[nodiscard]] result<bool> take(link_map list);

  running_program program_;
  memory_reader& memory_;
  const target_files& files_;
  debug_file_search search_;
  std::vector<link_map_entry> libraries_;  ///< of the last reading, without the executable
  std::optional<target_address> r_brk_;
  std::vector<std::shared_ptr<const module>> modules_;
  std::vector<std::unique_ptr<module_symbols>> sources_;
  std::vector<error> problems_;
};

}  // namespace mpiacq::elf
