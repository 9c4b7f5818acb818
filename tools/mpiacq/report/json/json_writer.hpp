// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Writes JSON piece by piece, so that a document of a million rows needs the memory of one row.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "report/json/json_parts.hpp"
#include "report/report_stream.hpp"

namespace mpiacq::tool {

/// Writes one document. The caller nests begin_ and end_ calls correctly and gives each member of an object a key.
///
/// A document is ASCII where a terminal could misread it: characters that `base::is_safe` refuses are written as
/// \uXXXX, which is the same string to a reader of JSON. Bytes that are no UTF-8 become U+FFFD, because JSON cannot
/// hold them.
class json_writer {
 public:
  /// `in_html`: the document is inside a page. '<' is then escaped, so that no string ends the element.
  explicit json_writer(report_stream& out, bool in_html = false) : out_(out), in_html_(in_html) {}

  json_writer& begin_object() { return open('{'); }
  json_writer& end_object() { return close('}'); }
  json_writer& begin_array() { return open('['); }
  json_writer& end_array() { return close(']'); }
  json_writer& key(std::string_view name);

  json_writer& value(std::string_view text);
  json_writer& value(const std::string& text) { return value(std::string_view(text)); }
  json_writer& value(const char* text) { return value(std::string_view(text)); }
  json_writer& value(std::optional<std::string_view> text) { return text ? value(*text) : null(); }
  json_writer& value(bool truth) { return word(truth ? "true" : "false"); }
  json_writer& value(std::integral auto number) {
    const fmt::format_int digits(number);
    return word({digits.data(), digits.size()});
  }
  json_writer& null() { return word("null"); }
  /// Writes a tree of values: for parts whose size does not grow with the job.
  json_writer& value(const json& part);

  /// A key and its value.
  template <class Value>
  json_writer& member(std::string_view name, const Value& what) {
    return key(name).value(what);
  }
  /// All members of an object that is a tree of values.
  json_writer& members(const json& object);

 private:
  json_writer& open(char bracket);
  json_writer& close(char bracket);
  json_writer& word(std::string_view text);
  void separate();
  void quoted(std::string_view text);

  [[nodiscard]] std::size_t plain_part(std::string_view text) const;

  report_stream& out_;
  bool in_html_;
  bool needs_comma_ = false;
};

/// A whole document that is a tree of values, and a line feed.
void write_document(report_stream& out, const json& document);

}  // namespace mpiacq::tool
