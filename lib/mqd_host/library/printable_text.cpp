// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "library/printable_text.hpp"

#include <algorithm>
#include <cstring>

#include "text/utf8.hpp"

namespace mpiacq::mqd_host {

namespace {

/// Whether a character of more than one byte stays unchanged: all except the control characters C1.
bool passes(const base::character& one) {
  constexpr char32_t end_of_c1 = 0xa0;
  return one.is_valid && one.code >= end_of_c1;
}

}  // namespace

std::string printable(std::string_view text, std::size_t most) {
  text = text.substr(0, text.find('\0'));
  std::string out;
  out.reserve(std::min(text.size(), most));
  while (!text.empty()) {
    const base::character next = base::first_character(text);
    const std::size_t length = passes(next) ? next.length : 1;
    if (out.size() + length > most) break;
    const char byte = text.front();
    if (length > 1) {
      out.append(text.substr(0, length));
    } else if (byte == '\n' || byte == '\r' || byte == '\t') {
      out += ' ';
    } else {
      out += byte >= 0x20 && byte < 0x7f ? byte : '?';
    }
    text.remove_prefix(length);
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string printable_c_string(const char* text, std::size_t most) {
  return text == nullptr ? std::string() : printable({text, ::strnlen(text, most)}, most);
}

}  // namespace mpiacq::mqd_host
