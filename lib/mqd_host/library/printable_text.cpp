// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "library/printable_text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace mpiacq::mqd_host {

namespace {

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
}

/// The bytes of the well-formed character of more than one byte at `i` (Unicode, table 3-7); 0 where there is none.
std::size_t multibyte_at(std::string_view text, std::size_t i) {
  const auto first = byte_at(text, i);
  const auto second = byte_at(text, i + 1);
  const auto continues = [&](std::size_t n) { return (byte_at(text, i + n) & 0xc0U) == 0x80U; };
  if (first >= 0xc2 && first <= 0xdf) return first == 0xc2 && second < 0xa0 ? 0 : (continues(1) ? 2 : 0);  // not C1
  if (first >= 0xe0 && first <= 0xef) {
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
    return continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
    return continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  text = text.substr(0, text.find('\0'));
  std::string out;
  out.reserve(std::min(text.size(), most));
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = byte_at(text, i);
    const std::size_t length = byte < 0x80 ? 1 : std::max<std::size_t>(multibyte_at(text, i), 1);
    if (out.size() + length > most) break;
    if (length > 1) {
      out.append(text.substr(i, length));
    } else if (byte == '\n' || byte == '\r' || byte == '\t') {
      out += ' ';
    } else {
      out += byte >= 0x20 && byte < 0x7f ? static_cast<char>(byte) : '?';
    }
    i += length;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string printable_c_string(const char* text, std::size_t most) {
  return text == nullptr ? std::string() : printable({text, ::strnlen(text, most)}, most);
}

}  // namespace mpiacq::mqd_host
