// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "code_names/code_files.hpp"
#include "dwarf/file_types.hpp"
#include "mpiacq/process/process_types.hpp"

namespace mpiacq {

struct type_catalogue_state {
  debug_file_search search;

  std::mutex files_lock;
  std::map<std::vector<std::byte>, std::shared_ptr<elf::file_types>> by_build_id;
  std::unordered_map<elf::file_identity, std::shared_ptr<elf::file_types>, elf::hash_of_identity> by_identity;

  mutable std::mutex problems_lock;
  std::vector<error> problems;
  std::set<std::string> reported;
  std::atomic<std::size_t> files_read = 0;

  /// The types of a module's file; null if the module has no file that can be opened.
  [[nodiscard]] std::shared_ptr<elf::file_types> of(elf::module_symbols& m);
  void note(std::vector<error> found);
};

struct process_types::state {
  using module_list = std::function<std::span<const std::unique_ptr<elf::module_symbols>>()>;

  module_list modules;  ///< the current modules at each query, because libraries are loaded meanwhile
  type_catalogue_state& catalogue;
  const module* first = nullptr;
  std::unordered_map<std::shared_ptr<const module>, std::shared_ptr<elf::file_types>> known;
  const module* only = nullptr;  ///< the only module that is asked; null: all are asked

  [[nodiscard]] std::optional<structure_layout> ask(elf::module_symbols& m, std::string_view name,
                                                    source_language language);
};

}  // namespace mpiacq
