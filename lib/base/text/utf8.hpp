// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace mpiacq::base {

/// The first character of a text in UTF-8.
struct character {
  char32_t code = 0;       ///< 0 if the bytes are no character
  std::size_t length = 0;  ///< bytes; of ill-formed text the bytes that one replacement stands for (Unicode 15, 3.9)
  bool is_valid = false;
};
/// `text` must not be empty.
[[nodiscard]] character first_character(std::string_view text);

}  // namespace mpiacq::base
