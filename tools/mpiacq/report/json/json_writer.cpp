// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/json/json_writer.hpp"

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "text/printable.hpp"
#include "text/utf8.hpp"

namespace mpiacq::tool {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

std::string escaped(char32_t code) {
  constexpr char32_t first_of_pair = 0x10000;
  switch (code) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  if (code < first_of_pair) return fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code));
  const auto rest = static_cast<std::uint32_t>(code - first_of_pair);
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (rest >> 10), 0xdc00 + (rest & 0x3ff));
}

}  // namespace

/// The length of the part that needs no escape: printable ASCII without a quotation mark or a reverse solidus.
std::size_t json_writer::plain_part(std::string_view text) const {
  const char also = in_html_ ? '<' : '"';
  std::size_t i = 0;
  while (i < text.size() && text[i] >= ' ' && text[i] <= '~' && text[i] != '"' && text[i] != '\\' && text[i] != also)
    ++i;
  return i;
}

void json_writer::separate() {
  if (needs_comma_) out_.put(',');
  needs_comma_ = true;
}

json_writer& json_writer::open(char bracket) {
  separate();
  out_.put(bracket);
  needs_comma_ = false;
  return *this;
}

json_writer& json_writer::close(char bracket) {
  out_.put(bracket);
  needs_comma_ = true;
  return *this;
}

json_writer& json_writer::key(std::string_view name) {
  separate();
  quoted(name);
  out_.put(':');
  needs_comma_ = false;
  return *this;
}

json_writer& json_writer::word(std::string_view text) {
  separate();
  out_.put(text);
  return *this;
}

json_writer& json_writer::value(std::string_view text) {
  separate();
  quoted(text);
  return *this;
}

void json_writer::quoted(std::string_view text) {
  out_.put('"');
  while (!text.empty()) {
    const std::size_t plain = plain_part(text);
    out_.put(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const base::character next = base::first_character(text);
    if (!next.is_valid) {
      out_.put(replacement);
    } else if (base::is_safe(next.code) && next.code != '"' && next.code != '\\' &&
               next.code != (in_html_ ? U'<' : U'"')) {
      out_.put(text.substr(0, next.length));
    } else {
      out_.put(escaped(next.code));
    }
    text.remove_prefix(next.length);
  }
  out_.put('"');
}

json_writer& json_writer::value(const json& part) {
  if (part.is_object()) return begin_object().members(part).end_object();
  if (part.is_string()) return value(std::string_view(part.get_ref<const std::string&>()));
  if (!part.is_array()) return word(part.dump());  // a number, true, false, null
  begin_array();
  for (const json& one : part) value(one);
  return end_array();
}

json_writer& json_writer::members(const json& object) {
  for (const auto& [name, what] : object.items()) key(name).value(what);
  return *this;
}

void write_document(report_stream& out, const json& document) {
  json_writer(out).value(document);
  out.put('\n');
}

}  // namespace mpiacq::tool
