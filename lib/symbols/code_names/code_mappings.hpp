// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/process/code_catalogue.hpp"

namespace mpiacq::elf {

class code_names;

/// The names that a catalogue has found for the code of a file. All threads may use it.
class kept_names {
 public:
  /// Empty: this catalogue has found none.
  [[nodiscard]] std::shared_ptr<code_names> of(const std::shared_ptr<const void>& catalogue) const;
  void keep(std::shared_ptr<const void> catalogue, std::shared_ptr<code_names> names);

 private:
  mutable std::mutex lock_;
  std::shared_ptr<const void> catalogue_;  ///< the last one that has found names
  std::shared_ptr<code_names> names_;
};

/// A file with code that a process executes; also "[vdso]", which is no file. Processes that map the same file can
/// share it.
struct mapped_file {
  std::string path;         ///< as the kernel has it, without " (deleted)"
  bool is_deleted = false;  ///< the kernel's name ends in " (deleted)"
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  kept_names names;  ///< not of the vDSO, which each process has in its own memory
};

/// One executable mapping.
struct code_mapping {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  std::size_t file = no_file;  ///< index into `code_mappings::files`
  static constexpr std::size_t no_file = SIZE_MAX;
};

struct code_mappings {
  std::vector<code_mapping> code;  ///< by address
  std::vector<std::shared_ptr<mapped_file>> files;
  std::vector<std::uint64_t> first_pages;  ///< for each file, the address of its first bytes; 0 if they are not mapped
};

/// The executable mappings in the text of /proc/PID/maps. Malformed lines are left out.
[[nodiscard]] code_mappings decode_mappings(std::string_view text);

}  // namespace mpiacq::elf

namespace mpiacq {

struct code_map_state {
  process_id pid;
  memory_reader* memory = nullptr;
  elf::code_mappings mappings;

  /// The state of a file in one catalogue: a null pointer if the file cannot be used.
  struct resolved {
    bool tried = false;
    std::shared_ptr<elf::code_names> names;
  };
  std::mutex lock;                    ///< protects the following members
  std::shared_ptr<const void> asker;  ///< identifies the catalogue that owns `files`
  std::vector<resolved> files;

  [[nodiscard]] const elf::code_mapping* find(target_address address) const;
};

}  // namespace mpiacq
