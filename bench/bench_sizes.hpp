// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace mpiacq::bench {

/// The sizes on the command line, else the usual ones. Options of scripts/bench are no sizes.
[[nodiscard]] inline std::vector<std::size_t> sizes(int argc, char** argv, std::vector<std::size_t> usual) {
  std::vector<std::size_t> given;
  for (int i = 1; i < argc; ++i) {
    if (!std::string_view(argv[i]).starts_with("-")) given.push_back(std::strtoull(argv[i], nullptr, 10));
  }
  return given.empty() ? usual : given;
}

}  // namespace mpiacq::bench
