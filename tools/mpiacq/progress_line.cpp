// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "progress_line.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace mpiacq::tool {

namespace {
constexpr std::string_view line_begin = "\r\x1b[K";
}

progress_line::progress_line(bool wanted) : shown_(wanted && ::isatty(STDERR_FILENO) == 1) {}

progress_line::~progress_line() {
  clear();
}

void progress_line::clear() const {
  if (shown_) fmt::print(stderr, "{}", line_begin);
}

void progress_line::show(std::string_view text) const {
  if (shown_) fmt::print(stderr, "{}mpiacq: {}", line_begin, text);
}

}  // namespace mpiacq::tool
