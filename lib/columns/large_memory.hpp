// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace mpiacq {

/// Memory for std::free, uninitialised; null where there is none. Large pieces stand on huge pages where the system
/// gives some: for memory that is written once, front to back, the faults on 4 KiB pages cost more than the writing.
[[nodiscard]] void* allocate_large(std::size_t bytes);

}  // namespace mpiacq
