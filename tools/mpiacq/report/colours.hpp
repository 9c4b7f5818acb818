// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The terminal's sequences for colours, in one place so that all reports look alike.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace mpiacq::tool {

namespace colours {
inline constexpr std::string_view bold = "\x1b[1m";
inline constexpr std::string_view dim = "\x1b[2m";
inline constexpr std::string_view red = "\x1b[1;31m";
inline constexpr std::string_view green = "\x1b[32m";
inline constexpr std::string_view yellow = "\x1b[33m";
inline constexpr std::string_view cyan = "\x1b[36m";
inline constexpr std::string_view plain = "\x1b[0m";
inline constexpr std::array sequences = {bold, dim, red, green, yellow, cyan, plain};
}  // namespace colours

/// `what` in a colour if `colour` is set; an empty text stays empty.
[[nodiscard]] inline std::string coloured(bool colour, std::string_view how, std::string_view what) {
  if (!colour || what.empty()) return std::string(what);
  return std::string(how).append(what).append(colours::plain);
}

}  // namespace mpiacq::tool
