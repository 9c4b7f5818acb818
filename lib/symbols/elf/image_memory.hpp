// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "elf/elf_image.hpp"
#include "mpiacq/base/memory.hpp"

namespace mpiacq::elf {

/// The memory of a program or library at its link-time addresses: its PT_LOAD segments from the file, and zeros behind
/// the file part of a segment. Nothing is relocated.
class image_memory final : public memory_reader {
 public:
  explicit image_memory(std::shared_ptr<image> of);
  [[nodiscard]] result<void> read_ranges(std::span<memory_range> ranges) override;

 private:
  /// Reads at most to the end of one segment; 0 if no segment contains the address.
  [[nodiscard]] result<std::size_t> read_from_segment(target_address address, std::span<std::byte> into) const;

  std::shared_ptr<image> of_;
  std::vector<segment> loaded_;
};

}  // namespace mpiacq::elf
