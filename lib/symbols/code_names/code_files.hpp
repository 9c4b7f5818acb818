// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "code_names/code_mappings.hpp"
#include "elf/elf_image.hpp"

namespace mpiacq::elf {

/// Identifies one version of one file on this host: it changes when a program writes to the file.
struct file_identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t changed_seconds = 0;
  std::int64_t changed_nanoseconds = 0;
  friend bool operator==(const file_identity&, const file_identity&) = default;
};
struct hash_of_identity {
  std::size_t operator()(const file_identity& id) const noexcept {
    return std::hash<std::uint64_t>{}(id.inode ^ (id.device << 32) ^ (id.size << 20));
  }
};

/// The file that a process maps, found but not yet open.
struct found_file {
  std::string place;  ///< the path that opens the file; empty: it is open already
  std::shared_ptr<image> opened;
  file_identity identity;  ///< empty for the vDSO, which is no file
};

/// Finds file number `file` of a map: by the kernel's link to the mapping, else by a name that leads to the mapped
/// inode, else by a name that leads to a file with the headers that are in memory; only the last way reads memory.
/// Empty if the file is not available (deleted, replaced, forbidden); the reason goes to `problems`.
[[nodiscard]] std::optional<found_file> find_mapped_file(const code_map_state& map, std::size_t file,
                                                         std::vector<error>& problems);
/// The same, without reading memory.
[[nodiscard]] std::optional<found_file> find_without_memory(const code_map_state& map, std::size_t file);

/// The vDSO as an ELF file in this process's memory: it is complete, with its section headers.
[[nodiscard]] std::shared_ptr<image> copy_of_vdso(const code_map_state& map, std::size_t file,
                                                  std::vector<error>& problems);

/// The folders below which a process has its files, if they differ from ours: see debug_file_wanted.
[[nodiscard]] std::vector<std::string> roots_of_process(process_id pid);

}  // namespace mpiacq::elf
