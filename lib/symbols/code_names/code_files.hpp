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

/// What tells one file on this host from every other, and from what it was before somebody wrote into it.
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

/// The very file that a process maps, found but not open yet.
struct found_file {
  std::string place;  ///< opening this opens it; empty: it is open already
  std::shared_ptr<image> opened;
  file_identity identity;  ///< of the vdso, which is no file: nothing
};

/// Finds file number `file` of a map: by the kernel's link to the mapping, else by a name that leads to the inode that
/// is mapped, else by one that leads to a file with the headers that are in memory; only for this memory is read. Empty
/// where it cannot be had: deleted, replaced, forbidden; why goes to `problems`.
[[nodiscard]] std::optional<found_file> find_mapped_file(const code_map_state& map, std::size_t file,
                                                         std::vector<error>& problems);
/// The same without memory.
[[nodiscard]] std::optional<found_file> find_without_memory(const code_map_state& map, std::size_t file);

/// The vdso as an ELF file in memory of our own: it is a whole one, with its section headers.
[[nodiscard]] std::shared_ptr<image> copy_of_vdso(const code_map_state& map, std::size_t file,
                                                  std::vector<error>& problems);

/// The folders below which a process sees its files, if they are not ours: see debug_file_wanted.
[[nodiscard]] std::vector<std::string> roots_of_process(process_id pid);

}  // namespace mpiacq::elf
