// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "progress_line.hpp"

#include <cstdio>
#include <utility>

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

void progress_line::clear() {
  if (std::exchange(stands_, false)) fmt::print(stderr, "{}", line_begin);
}

void progress_line::show(std::string_view text) {
  if (!shown_) return;
  fmt::print(stderr, "{}mpiacq: {}", line_begin, text);
  stands_ = true;
}

}  // namespace mpiacq::tool
