// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/complaints.hpp"

#include <string>

#include <unistd.h>

#include "commands/advice.hpp"
#include "report/output_queue.hpp"
#include "text/printable.hpp"

namespace mpiacq::tool {

void complain(std::string_view what) {
  the_output().write(STDERR_FILENO, "mpiacq: " + advised(what) + "\n");
}

void complain(const error& what) {
  complain(what.message);
}

void complain_in_lines(std::string_view what) {
  std::string text = "mpiacq: ";
  base::append_guarded(text, what);
  the_output().write(STDERR_FILENO, text + "\n");
}

}  // namespace mpiacq::tool
