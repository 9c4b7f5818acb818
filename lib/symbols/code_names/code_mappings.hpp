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

/// A file of which a process executes some bytes; also "[vdso]", which is none.
struct mapped_file {
  std::string path;         ///< as the kernel has it, without its mark for deleted files
  bool is_deleted = false;  ///< it has that mark
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
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
  std::vector<mapped_file> files;
  std::vector<std::uint64_t> first_pages;  ///< of each file: where its first bytes are mapped; 0 where they are not
};

/// What of the text of /proc/PID/maps is about code. Lines that are no such lines are left out.
[[nodiscard]] code_mappings decode_mappings(std::string_view text);

class code_names;

}  // namespace mpiacq::elf

namespace mpiacq {

struct code_map_state {
  process_id pid;
  memory_reader* memory = nullptr;
  elf::code_mappings mappings;

  /// What one catalogue has made of a file: a null pointer where it cannot be used.
  struct resolved {
    bool tried = false;
    std::shared_ptr<elf::code_names> names;
  };
  std::mutex lock;                    ///< of what follows
  std::shared_ptr<const void> asker;  ///< the catalogue whose `files` these are
  std::vector<resolved> files;

  [[nodiscard]] const elf::code_mapping* find(target_address address) const;
};

}  // namespace mpiacq
