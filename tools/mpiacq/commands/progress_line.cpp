// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/progress_line.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "report/output_queue.hpp"
#include "text/printable.hpp"

namespace mpiacq::tool {

namespace {
constexpr std::string_view line_begin = "\r\x1b[K";
}

progress_line::progress_line(bool wanted) : shown_(wanted && ::isatty(STDERR_FILENO) == 1) {}

progress_line::~progress_line() {
  clear();
}

void progress_line::clear() {
  if (std::exchange(stands_, false)) the_output().write(STDERR_FILENO, std::string(line_begin));
}

void progress_line::show(std::string_view text) {
  if (!shown_) return;
  the_output().write_if_idle(STDERR_FILENO, fmt::format("{}mpiacq: {}", line_begin, base::printable(text)));
  stands_ = true;
}

}  // namespace mpiacq::tool
