// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "mpiacq/base/error.hpp"

namespace mpiacq::tool {

/// The outcome of a rank that could not be read, as JSON has it.
[[nodiscard]] constexpr std::string_view failure_name(error_code why) {
  switch (why) {
    case error_code::process_gone:
      return "gone";
    case error_code::permission:
      return "not-permitted";
    case error_code::busy:
      return "busy";
    default:
      return "failed";
  }
}

}  // namespace mpiacq::tool
