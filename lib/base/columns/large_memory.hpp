// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace mpiacq {

/// Memory for std::free, uninitialised; null where there is none. Large pieces stand on huge pages where the system
/// gives some: for memory that is written once, front to back, the faults on 4 KiB pages cost more than the writing.
[[nodiscard]] void* allocate_large(std::size_t bytes);

/// Gives the pages that lie wholly in this memory back to the system; what stood there is lost. malloc keeps what is
/// freed if it has freed a block of that size before.
void give_pages_back(void* memory, std::size_t bytes);

}  // namespace mpiacq
