// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "text/printable.hpp"

namespace mpiacq::tool {

/// Text for the inside of an element or of an attribute in quotation marks. Unsafe characters are escaped as in all
/// reports; line feeds stay. No text can end the element.
[[nodiscard]] inline std::string html_text(std::string_view text) {
  std::string safe, out;
  base::append_guarded(safe, text);
  for (const char c : safe) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace mpiacq::tool
