// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "../floor/bare_hold.hpp"

namespace mpiacq::bench {

/// The milliseconds that a rival's script prints, each as a line "took 12.3". Empty where it cannot run here.
inline std::vector<double> said_times(const std::string& command) {
  std::vector<double> took;
  std::FILE* out = ::popen(command.c_str(), "r");
  must_be(out != nullptr, "popen");
  char line[256];
  while (std::fgets(line, sizeof line, out) != nullptr) {
    constexpr std::string_view before = "took ";
    if (std::string_view(line).starts_with(before)) took.push_back(std::strtod(line + before.size(), nullptr));
  }
  ::pclose(out);
  return took;
}

}  // namespace mpiacq::bench
