// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace mpiacq {

/// Allocates uninitialised memory for std::free; null if there is none. Large pieces use huge pages if the system has
/// some: for memory that is written once from front to back, the faults on 4 KiB pages cost more than the writing.
[[nodiscard]] void* allocate_large(std::size_t bytes);

/// Returns the pages that lie completely in this memory to the system; their contents are lost. malloc would keep the
/// freed memory if it has freed a block of that size before.
void give_pages_back(void* memory, std::size_t bytes);

}  // namespace mpiacq
