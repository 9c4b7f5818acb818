// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "mpiacq/base/error.hpp"

namespace mpiacq::tool {

/// Writes "mpiacq: SENTENCE" to standard error, in order and without waiting for the reader, followed by the option
/// that helps (advice.hpp). The sentence is one line: a line feed in it is escaped like any other unsafe character.
void complain(std::string_view what);
void complain(const error& what);
/// The same for several lines of this program's own text.
void complain_in_lines(std::string_view what);

}  // namespace mpiacq::tool
