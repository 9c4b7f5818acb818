// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "mpiacq/base/error.hpp"

namespace mpiacq::tool {

/// Writes "mpiacq: SENTENCE" to standard error, after what was said before, without waiting for the reader, and what
/// the user can type about it (advice.hpp). The sentence is one line: a line feed in it is escaped like all that a
/// terminal must not get.
void complain(std::string_view what);
void complain(const error& what);
/// The same for text of several lines that is this program's own.
void complain_in_lines(std::string_view what);

}  // namespace mpiacq::tool
