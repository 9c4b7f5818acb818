// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/printable.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "report/colours.hpp"

namespace mpiacq::tool {

namespace {

constexpr unsigned char first_printable = 0x20;
constexpr unsigned char last_printable = 0x7e;

struct code_range {
  char32_t first;
  char32_t last;
};

/// In order. Zero-width joiners are among them: a name that needs one is still readable without.
constexpr std::array<code_range, 10> unsafe_ranges = {{
    {0x00, 0x1f},
    {0x7f, 0x9f},        // DEL and C1
    {0xad, 0xad},        // soft hyphen
    {0x61c, 0x61c},      // Arabic letter mark
    {0x200b, 0x200f},    // zero width, direction marks
    {0x2028, 0x202e},    // separators, embeddings, overrides
    {0x2060, 0x206f},    // invisible operators, isolates
    {0xfeff, 0xfeff},    // byte order mark
    {0xfff9, 0xfffb},    // interlinear annotation
    {0xe0000, 0xe0fff},  // tags
}};

/// What may follow a first byte (Unicode 15, table 3-7).
struct sequence {
  unsigned char first;
  unsigned char last;
  std::size_t length;
  unsigned char second_first;  ///< the second byte has a range of its own, the others 80 to BF
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

void append_bytes(std::string& out, std::string_view bytes) {
  for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
}

/// The colour sequence that `text` begins with; empty where it begins with none.
std::string_view colour_at(std::string_view text) {
  for (const std::string_view one :
       {colours::bold, colours::dim, colours::red, colours::green, colours::yellow, colours::cyan, colours::plain}) {
    if (text.substr(0, one.size()) == one) return one;
  }
  return {};
}

void append_one(std::string& out, std::string_view text, const character& next) {
  constexpr char32_t end_of_ascii = 0x80;
  if (!next.is_valid || (next.code < end_of_ascii && !is_safe(next.code))) {
    append_bytes(out, text.substr(0, next.length));
  } else if (!is_safe(next.code)) {
    out += fmt::format("\\u{{{:x}}}", static_cast<std::uint32_t>(next.code));
  } else {
    out.append(text.substr(0, next.length));
  }
}

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

bool is_safe(char32_t code) {
  return std::none_of(unsafe_ranges.begin(), unsafe_ranges.end(),
                      [&](const code_range& r) { return r.first <= code && code <= r.last; });
}

std::size_t plain_prefix(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < first_printable || byte > last_printable) break;
    ++i;
  }
  return i;
}

std::string printable(std::string_view foreign) {
  std::string text;
  while (!foreign.empty()) {
    const std::size_t plain = plain_prefix(foreign);
    text.append(foreign.substr(0, plain));
    foreign.remove_prefix(plain);
    if (foreign.empty()) break;
    const character next = first_character(foreign);
    append_one(text, foreign, next);
    foreign.remove_prefix(next.length);
  }
  return text;
}

void append_guarded(std::string& out, std::string_view text, bool colour) {
  while (!text.empty()) {
    const std::size_t plain = plain_prefix(text);
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    const std::string_view sequence_of_ours = colour ? colour_at(text) : std::string_view{};
    const character next = first_character(text);
    if (!sequence_of_ours.empty()) {
      out.append(sequence_of_ours);
      text.remove_prefix(sequence_of_ours.size());
      continue;
    }
    if (next.code == '\n' && next.is_valid) {
      out += '\n';
    } else {
      append_one(out, text, next);
    }
    text.remove_prefix(next.length);
  }
}

}  // namespace mpiacq::tool
