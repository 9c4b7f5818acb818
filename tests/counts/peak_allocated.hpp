// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "allocations.hpp"

extern "C" std::size_t __sanitizer_get_allocated_size(const volatile void*) __attribute__((weak));

namespace mpiacq::test {

namespace detail {
inline std::atomic<std::ptrdiff_t> allocated_now = 0;
inline std::atomic<std::ptrdiff_t> allocated_most = 0;

inline void note_allocated(std::ptrdiff_t bytes) {
  const std::ptrdiff_t now = allocated_now.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::ptrdiff_t most = allocated_most.load(std::memory_order_relaxed);
  while (now > most && !allocated_most.compare_exchange_weak(most, now, std::memory_order_relaxed)) continue;
}
}  // namespace detail

/// Whether `peak_allocated_by` counts here: AddressSanitizer's hooks see every allocation, and every block that is
/// given back with its size.
[[nodiscard]] inline bool counts_peaks() {
  static const bool installed =
      __sanitizer_install_malloc_and_free_hooks != nullptr && __sanitizer_get_allocated_size != nullptr &&
      __sanitizer_install_malloc_and_free_hooks(
          [](const volatile void*, std::size_t bytes) { detail::note_allocated(static_cast<std::ptrdiff_t>(bytes)); },
          [](const volatile void* block) {
            if (block != nullptr) {
              detail::note_allocated(-static_cast<std::ptrdiff_t>(__sanitizer_get_allocated_size(block)));
            }
          }) != 0;
  return installed;
}

/// The most that `work` has allocated at a time, in bytes, in all threads. Memory that nothing is written to counts
/// too.
template <class Work>
[[nodiscard]] std::size_t peak_allocated_by(Work work) {
  const std::ptrdiff_t before = detail::allocated_now;
  detail::allocated_most = before;
  work();
  return static_cast<std::size_t>(std::max<std::ptrdiff_t>(detail::allocated_most - before, 0));
}

}  // namespace mpiacq::test
