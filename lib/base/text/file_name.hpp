// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace mpiacq::base {

/// The part of a path behind its last '/'; the whole path if it has none.
[[nodiscard]] constexpr std::string_view file_name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

/// The part of a path up to its last '/', which it includes; empty if the path has none.
[[nodiscard]] constexpr std::string_view folder_of(std::string_view path) {
  return path.substr(0, path.rfind('/') + 1);
}

}  // namespace mpiacq::base
