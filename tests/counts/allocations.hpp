// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>

#include "catch.hpp"

extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*, std::size_t),
                                                         void (*free_hook)(const volatile void*)) __attribute__((weak));

namespace mpiacq::test {

struct allocated {
  std::size_t times = 0;
  std::size_t bytes = 0;
};

namespace detail {
inline std::atomic<std::size_t> allocation_times = 0;
inline std::atomic<std::size_t> allocation_bytes = 0;
}  // namespace detail

/// Whether allocations can be counted here: by AddressSanitizer's hooks, which see those of all code of the program.
[[nodiscard]] inline bool counts_allocations() {
  static const bool installed = __sanitizer_install_malloc_and_free_hooks != nullptr &&
                                __sanitizer_install_malloc_and_free_hooks(
                                    [](const volatile void*, std::size_t bytes) {
                                      detail::allocation_times.fetch_add(1, std::memory_order_relaxed);
                                      detail::allocation_bytes.fetch_add(bytes, std::memory_order_relaxed);
                                    },
                                    [](const volatile void*) {}) != 0;
  return installed;
}

/// What `work` allocates, in all threads.
template <class Work>
[[nodiscard]] allocated allocated_by(Work work) {
  const std::size_t times = detail::allocation_times, bytes = detail::allocation_bytes;
  work();
  return {detail::allocation_times - times, detail::allocation_bytes - bytes};
}

}  // namespace mpiacq::test

#define MPIACQ_COUNT_ALLOCATIONS() \
  if (!::mpiacq::test::counts_allocations()) MPIACQ_SKIP("allocations are counted by AddressSanitizer's hooks only")
