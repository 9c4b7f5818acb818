// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "mpiacq/base/memory.hpp"

namespace mpiacq {

/// The address at which the page of `address` begins.
[[nodiscard]] constexpr std::uint64_t page_of(std::uint64_t address) {
  return address & ~std::uint64_t{read_page_size - 1};
}

}  // namespace mpiacq
