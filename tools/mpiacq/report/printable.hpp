// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Which characters may reach a terminal. Every report, message and JSON string passes through this file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mpiacq::tool {

/// The first character of a text in UTF-8.
struct character {
  char32_t code = 0;       ///< meaningless where the bytes are no character
  std::size_t length = 0;  ///< bytes; of ill-formed text the bytes that one replacement stands for (Unicode 15, 3.9)
  bool is_valid = false;
};
/// `text` must not be empty.
[[nodiscard]] character first_character(std::string_view text);

/// Whether a terminal shows this character and does nothing else: no control (C0, DEL, C1), nothing that changes the
/// direction of text, no line or paragraph separator, nothing invisible.
[[nodiscard]] bool is_safe(char32_t code);

/// The number of bytes at the beginning of `text` that are safe printable ASCII, the part that needs no closer look.
[[nodiscard]] std::size_t plain_prefix(std::string_view text);

/// Foreign text (a name, a path, a sentence with one in it) as a terminal may have it. A control character and a byte
/// that is no UTF-8 become \xHH; any other unsafe character becomes \u{H...}. A line feed is a control character here:
/// foreign text stays on its line.
[[nodiscard]] std::string printable(std::string_view foreign);

/// Adds text that this program has put together, with the same rule, except that line feeds stay. With `colour` the
/// sequences of colours.hpp stay too, and no others.
void append_guarded(std::string& out, std::string_view text, bool colour);

}  // namespace mpiacq::tool
