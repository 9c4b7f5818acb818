// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mpiacq::mqd_host {

/// Foreign text for people and for JSON: valid UTF-8, at most `most` bytes, no control characters. Line breaks and tabs
/// become blanks, invalid bytes become '?', and blanks at the end are removed. The text ends at its first null byte.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most);

/// The same for a C string, of which at most `most` bytes are read; empty for a null pointer.
[[nodiscard]] std::string printable_c_string(const char* text, std::size_t most);

}  // namespace mpiacq::mqd_host
