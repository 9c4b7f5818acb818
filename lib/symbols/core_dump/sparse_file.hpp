// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "mpiacq/base/error.hpp"

namespace mpiacq::elf {

/// A new file whose pages of zeros are holes. Errors of its members: system; the sentence says what was written, how
/// much had been stored before, and the reason.
class sparse_file {
 public:
  /// Checks that `descriptor`, which stays the caller's, is an empty regular file that can be written at any place.
  /// `what` names the contents in sentences. At most `most` bytes are stored. Errors: invalid_argument.
  [[nodiscard]] static result<sparse_file> open(int descriptor, std::string what, std::optional<std::uint64_t> most);

  /// Stores all of `bytes`, whatever the bound.
  [[nodiscard]] result<void> put(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Stores the pages of `bytes` that are not zero. Returns the number of bytes up to the first page that would exceed
  /// the bound. `offset` is a multiple of the page size.
  [[nodiscard]] result<std::size_t> put_pages(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Gives the file its length.
  [[nodiscard]] result<void> end_at(std::uint64_t length);

  [[nodiscard]] std::uint64_t stored() const { return stored_; }
  /// Counts bytes that will be put later.
  void reserve(std::uint64_t bytes) { reserved_ += bytes; }

 private:
  sparse_file(int descriptor, std::string what, std::optional<std::uint64_t> most);
  [[nodiscard]] bool has_room(std::uint64_t bytes) const;
  [[nodiscard]] tl::unexpected<error> failure(int why) const;

  int descriptor_ = -1;
  std::string what_;
  std::optional<std::uint64_t> most_;
  std::uint64_t largest_ = 0;  ///< RLIMIT_FSIZE
  std::uint64_t stored_ = 0;
  std::uint64_t reserved_ = 0;
};

}  // namespace mpiacq::elf
