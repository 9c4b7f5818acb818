// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "text/utf8.hpp"

#include <algorithm>
#include <array>

namespace mpiacq::base {

namespace {

/// The bytes that may follow a first byte (Unicode 15, table 3-7).
struct sequence {
  unsigned char first;
  unsigned char last;
  std::size_t length;
  unsigned char second_first;  ///< the second byte has a range of its own; all later bytes are 80 to BF
  unsigned char second_last;
};
constexpr std::array<sequence, 8> sequences = {{
    {0xc2, 0xdf, 2, 0x80, 0xbf},
    {0xe0, 0xe0, 3, 0xa0, 0xbf},
    {0xe1, 0xec, 3, 0x80, 0xbf},
    {0xed, 0xed, 3, 0x80, 0x9f},
    {0xee, 0xef, 3, 0x80, 0xbf},
    {0xf0, 0xf0, 4, 0x90, 0xbf},
    {0xf1, 0xf3, 4, 0x80, 0xbf},
    {0xf4, 0xf4, 4, 0x80, 0x8f},
}};

}  // namespace

character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1, true};
  const auto* found = std::find_if(sequences.begin(), sequences.end(),
                                   [&](const sequence& s) { return s.first <= byte(0) && byte(0) <= s.last; });
  if (found == sequences.end()) return {0, 1, false};
  char32_t code = byte(0) & (0x7fU >> found->length);
  for (std::size_t i = 1; i < found->length; ++i) {
    const unsigned char least = i == 1 ? found->second_first : 0x80;
    const unsigned char most = i == 1 ? found->second_last : 0xbf;
    if (i == text.size() || byte(i) < least || byte(i) > most) return {0, i, false};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  return {code, found->length, true};
}

}  // namespace mpiacq::base
