// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <vector>

#include "mpiacq/base/ids.hpp"

namespace mpiacq::test {

/// The entries with these numbers.
inline std::vector<entry_index> entries(std::initializer_list<std::size_t> numbers) {
  std::vector<entry_index> all;
  for (const std::size_t number : numbers) all.emplace_back(number);
  return all;
}

}  // namespace mpiacq::test
