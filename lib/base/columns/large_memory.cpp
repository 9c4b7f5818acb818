// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "columns/large_memory.hpp"

#include <cstdint>
#include <cstdlib>

#include <sys/mman.h>

namespace mpiacq {

void* allocate_large(std::size_t bytes) {
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  // Rounding up to whole huge pages must not double the cost of a small table.
  if (bytes < 2 * huge_page - huge_page / 4) return std::malloc(bytes);
  const std::size_t whole = (bytes + huge_page - 1) / huge_page * huge_page;
  void* memory = std::aligned_alloc(huge_page, whole);
  // This is only advice: without huge pages the memory works the same.
  if (memory != nullptr) (void)madvise(memory, whole, MADV_HUGEPAGE);
  return memory;
}

void give_pages_back(void* memory, std::size_t bytes) {
  constexpr std::uintptr_t page = 65536;  // a multiple of every page size in use
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (begin + page - 1) / page * page, last = (begin + bytes) / page * page;
  if (first < last) (void)madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

}  // namespace mpiacq
