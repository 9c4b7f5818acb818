// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpiacq/error.hpp"

namespace mpiacq::elf {

/// A regular file, open for reading. It is read with pread and never mapped: a file that somebody cuts short meanwhile
/// then gives an error, and no SIGBUS in the program that uses this library.
class input_file {
 public:
  /// `name` stands in errors instead of `path` where the path means little to a person (/proc/123/exe). Errors:
  /// not_found, permission, bad_format (a directory, a device, a pipe), system.
  [[nodiscard]] static result<input_file> open(const std::string& path, std::string name = {});
  /// The file that a process with the root folder `root` sees at `path`: links on the way lead to where they lead
  /// there. An empty root is our own. Errors as `open`.
  [[nodiscard]] static result<input_file> open_below(const std::string& root, const std::string& path,
                                                     std::string name = {});
  /// Takes an open descriptor over.
  [[nodiscard]] static result<input_file> adopt(int descriptor, std::string name);

  ~input_file();
  input_file(input_file&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_), name_(std::move(other.name_)) {}
  input_file& operator=(input_file&& other) noexcept;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Reads from `offset` until `into` is full or the file ends; gives the number of bytes.
  [[nodiscard]] result<std::size_t> read_some(std::uint64_t offset, std::span<std::byte> into) const;
  /// All of `into`. Errors: bad_format (the file ends before), system.
  [[nodiscard]] result<void> read_whole(std::uint64_t offset, std::span<std::byte> into) const;
  /// Exactly `size` bytes. Errors: bad_format (the file ends before), limit (more than 2 GiB).
  [[nodiscard]] result<std::vector<std::byte>> read(std::uint64_t offset, std::uint64_t size) const;

 private:
  input_file(int descriptor, std::uint64_t size, std::string name)
      : descriptor_(descriptor), size_(size), name_(std::move(name)) {}
  [[nodiscard]] error truncated(std::uint64_t offset, std::uint64_t size) const;

  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::string name_;
};

}  // namespace mpiacq::elf
