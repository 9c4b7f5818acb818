// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "elf/image_memory.hpp"

#include <algorithm>

#include <elf.h>

#include "errors/try.hpp"

namespace mpiacq::elf {

image_memory::image_memory(std::shared_ptr<image> of) : of_(std::move(of)) {
  for (const segment& s : of_->segments()) {
    if (s.type == PT_LOAD && s.memory_size != 0) loaded_.push_back(s);
  }
}

result<void> image_memory::read_ranges(std::span<memory_range> ranges) {
  for (memory_range& range : ranges) range.got = 0;
  for (memory_range& range : ranges) {
    while (range.got < range.into.size()) {
      auto count = TRY(read_from_segment(range.address + range.got, range.into.subspan(range.got)));
      if (count == 0) break;
      range.got += count;
    }
  }
  return {};
}

result<std::size_t> image_memory::read_from_segment(target_address address, std::span<std::byte> into) const {
  for (const segment& s : loaded_) {
    const std::uint64_t within = address.value() - s.address;
    if (address.value() < s.address || within >= s.memory_size) continue;
    if (within < s.file_size) {
      const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), s.file_size - within));
      if (s.offset > UINT64_MAX - within) return std::size_t{0};
      return of_->file().read_some(s.offset + within, into.first(wanted));
    }
    const auto zeros = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), s.memory_size - within));
    std::fill_n(into.begin(), zeros, std::byte{0});
    return zeros;
  }
  return std::size_t{0};
}

}  // namespace mpiacq::elf
