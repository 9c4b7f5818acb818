// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <span>

#include "mpiacq/base/memory.hpp"

namespace mpiacq::bench {

/// This program's own memory: a read is a copy.
class own_memory final : public memory_reader {
 public:
  result<void> read_ranges(std::span<memory_range> ranges) override {
    for (memory_range& r : ranges) {
      std::memcpy(r.into.data(), reinterpret_cast<const void*>(r.address.value()), r.into.size());
      r.got = r.into.size();
    }
    return {};
  }
};

template <class T>
[[nodiscard]] target_address address_of(const T* value) {
  return target_address{reinterpret_cast<std::uint64_t>(value)};
}

}  // namespace mpiacq::bench
