// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Texts as their lines.
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

/// What mpiacq has said beside its notice that it still waits for a starter. A busy machine makes it say that.
inline std::string without_waiting_notice(const std::string& text) {
  std::string rest;
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with("mpiacq: still waiting for ")) rest += line + "\n";
  }
  return rest;
}

}  // namespace mpiacq::test
