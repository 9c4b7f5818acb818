// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>

#include <sys/uio.h>

#include "mpiacq/memory.hpp"

namespace mpiacq::bench {

/// process_vm_readv and nothing else, so that the benchmark of the table reader measures the table reader.
class local_memory final : public memory_reader {
 public:
  explicit local_memory(pid_t pid) : pid_(pid) {}

  result<void> read_ranges(std::span<memory_range> ranges) override {
    for (memory_range& range : ranges) range.got = 0;
    std::size_t first = 0;
    while (first < ranges.size()) {
      const std::size_t count = std::min(ranges.size() - first, most);
      std::array<iovec, most> here;
      std::array<iovec, most> there;
      for (std::size_t i = 0; i < count; ++i) {
        const memory_range& range = ranges[first + i];
        here[i] = {range.into.data(), range.into.size()};
        there[i] = {reinterpret_cast<void*>(range.address.value()), range.into.size()};  // NOLINT: a foreign address
      }
      const ssize_t moved = process_vm_readv(pid_, here.data(), count, there.data(), count, 0);
      calls += 1;
      if (moved < 0 && errno != EFAULT) return fail(error{error_code::system, "process_vm_readv"}.with_errno(errno));
      auto left = static_cast<std::size_t>(std::max<ssize_t>(moved, 0));
      bytes += left;
      std::size_t i = first;
      for (; i < first + count && left >= ranges[i].into.size(); ++i) {
        ranges[i].got = ranges[i].into.size();
        left -= ranges[i].got;
      }
      if (i < first + count) ranges[i++].got = left;  // the call stops at the first page that is not there
      first = i;
    }
    return {};
  }

  std::size_t calls = 0;
  std::size_t bytes = 0;

 private:
  static constexpr std::size_t most = 1024;
  pid_t pid_;
};

}  // namespace mpiacq::bench
