// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mpiacq/base/error.hpp"

namespace mpiacq::elf {

/// A regular file, open for reading. It is read with pread and never mapped: if another process truncates the file
/// meanwhile, the result is an error, and not a SIGBUS in the host program.
///
/// The file belongs to the target process, so its contents are untrusted. A sparse file can claim any size at no cost,
/// so a range with a large hole is not read.
class input_file {
 public:
  /// Opens only regular files. A pipe or a device, also one that another process puts in the file's place meanwhile, is
  /// never opened, because opening it can block or have an effect. `name` replaces `path` in errors if the path is
  /// unclear to a person (/proc/123/exe). Errors: not_found, permission, bad_format (a directory, a device, a pipe),
  /// system.
  [[nodiscard]] static result<input_file> open(const std::string& path, std::string name = {});
  /// Opens the file that a process with the root folder `root` has at `path`; links are resolved below that root. An
  /// empty root is our own. Errors as `open`.
  [[nodiscard]] static result<input_file> open_below(const std::string& root, const std::string& path,
                                                     std::string name = {});
  /// Takes ownership of an open descriptor.
  [[nodiscard]] static result<input_file> adopt(int descriptor, std::string name);

  ~input_file();
  input_file(input_file&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_), name_(std::move(other.name_)) {}
  input_file& operator=(input_file&& other) noexcept;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Reads from `offset` until `into` is full or the file ends; returns the number of bytes.
  [[nodiscard]] result<std::size_t> read_some(std::uint64_t offset, std::span<std::byte> into) const;
  /// Reads all of `into`. Errors: bad_format (the file ends before), system.
  [[nodiscard]] result<void> read_whole(std::uint64_t offset, std::span<std::byte> into) const;
  /// Reads exactly `size` bytes. Errors: bad_format (the file ends before), limit (more than `largest_read`, or mostly
  /// a hole).
  [[nodiscard]] result<std::vector<std::byte>> read(std::uint64_t offset, std::uint64_t size) const;
  /// Checks that a range has no hole larger than linkers and file systems leave. Call it before a large range is mapped
  /// or read in pieces. Succeeds if the file system does not report holes. Errors: limit (a large hole), bad_format
  /// (the file ends before).
  [[nodiscard]] result<void> check_is_stored(std::uint64_t offset, std::uint64_t size) const;

  static constexpr std::uint64_t largest_read = std::uint64_t{128} << 20;

 private:
  struct place;
  [[nodiscard]] static result<input_file> open_place(const place& found, std::string name);
  input_file(int descriptor, std::uint64_t size, std::string name)
      : descriptor_(descriptor), size_(size), name_(std::move(name)) {}
  [[nodiscard]] error truncated(std::uint64_t offset, std::uint64_t size) const;

  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::string name_;
};

}  // namespace mpiacq::elf
