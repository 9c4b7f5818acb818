// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace mpiacq::tool {

/// The command line of a starter.
struct starter_line {
  std::vector<std::string> words;
  bool follows_mark = false;  ///< "--" precedes it
};

}  // namespace mpiacq::tool
