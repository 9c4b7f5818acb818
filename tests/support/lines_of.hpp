// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A text as its lines.
#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace mpiacq::test {

/// Without the ends of the lines.
inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) lines.push_back(line);
  return lines;
}

}  // namespace mpiacq::test
