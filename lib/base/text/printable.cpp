// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "text/printable.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "text/utf8.hpp"

namespace mpiacq::base {

namespace {

constexpr unsigned char first_printable = 0x20;
constexpr unsigned char last_printable = 0x7e;

struct code_range {
  char32_t first;
  char32_t last;
};

/// In ascending order. Zero-width joiners are among them: a name that needs one can still be read without it.
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

void append_bytes(std::string& out, std::string_view bytes) {
  for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
}

/// The allowed sequence that `text` begins with; empty if it begins with none.
std::string_view allowed_at(std::string_view text, std::span<const std::string_view> allowed) {
  const auto found =
      std::find_if(allowed.begin(), allowed.end(), [&](std::string_view one) { return text.starts_with(one); });
  return found == allowed.end() ? std::string_view{} : *found;
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

void append_guarded(std::string& out, std::string_view text, std::span<const std::string_view> allowed) {
  while (!text.empty()) {
    const std::size_t plain = plain_prefix(text);
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    if (const std::string_view ours = allowed_at(text, allowed); !ours.empty()) {
      out.append(ours);
      text.remove_prefix(ours.size());
      continue;
    }
    const character next = first_character(text);
    if (next.code == '\n' && next.is_valid) {
      out += '\n';
    } else {
      append_one(out, text, next);
    }
    text.remove_prefix(next.length);
  }
}

}  // namespace mpiacq::base
