// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core_dump/memory_areas.hpp"
#include "core_dump/sparse_file.hpp"
#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/memory.hpp"

namespace mpiacq::elf {

/// Copies memory of a process into a file, a few megabytes at a time.
class memory_copier {
 public:
  /// Called between two pieces: false to leave out the rest.
  using may_go_on = std::function<result<bool>()>;

  /// All of these must outlive this object. Without /proc/PID/pagemap, each page is read.
  memory_copier(const process_folder& process, memory_reader& memory, sparse_file& into, may_go_on between_pieces);

  /// Copies the memory from `begin` to `end` to `offset` in the file, and returns how much of it the file has now; less
  /// than all of it if the file has no room, or if `between_pieces` has ended the copying. `skips_unused`: pages that
  /// the process has never used are zeros, and are not read. Errors: those of the reader, the file and
  /// `between_pieces`.
  [[nodiscard]] result<std::uint64_t> copy(std::uint64_t begin, std::uint64_t end, std::uint64_t offset,
                                           bool skips_unused);

  /// The bytes that could not be read, and are zeros in the file.
  [[nodiscard]] std::uint64_t unreadable() const { return unreadable_; }

 private:
  struct run {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };
  [[nodiscard]] std::vector<run> used_runs(std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] result<bool> copy_runs(std::span<const run> runs, std::uint64_t& done, std::uint64_t begin,
                                       std::uint64_t offset);
  [[nodiscard]] result<void> read(std::span<const run> runs);
  [[nodiscard]] result<void> read_pages(std::uint64_t begin, std::span<std::byte> into);

  memory_reader& memory_;
  sparse_file& into_;
  may_go_on between_pieces_;
  base::unique_fd page_map_;
  std::uint64_t page_size_;
  std::vector<std::byte> buffer_;
  std::vector<std::uint64_t> entries_;
  std::uint64_t unreadable_ = 0;
};

}  // namespace mpiacq::elf
