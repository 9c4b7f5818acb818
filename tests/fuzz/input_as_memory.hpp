// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the targets share whose input is the memory of a rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "mpiacq/base/memory.hpp"

namespace mpiacq::fuzz {

/// Ends the target if something that always holds does not.
inline void must(bool holds) {
  if (!holds) std::abort();
}

/// The input as memory from an address on. More reads than `most_reads` end the target.
class input_as_memory final : public memory_reader {
 public:
  input_as_memory(const std::uint8_t* data, std::size_t size, std::uint64_t base, std::uint64_t most_reads)
      : data_(data), size_(size), base_(base), reads_left_(most_reads) {}
  result<void> read_ranges(std::span<memory_range> ranges) override {
    for (memory_range& range : ranges) {
      must(reads_left_-- > 0);
      const std::uint64_t at = range.address.value() - base_;
      range.got = at >= size_ ? 0 : std::min<std::size_t>(range.into.size(), size_ - static_cast<std::size_t>(at));
      if (range.got != 0) std::memcpy(range.into.data(), data_ + at, range.got);
    }
    return {};
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::uint64_t base_;
  std::uint64_t reads_left_;
};

}  // namespace mpiacq::fuzz
