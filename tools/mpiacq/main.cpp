// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include <unistd.h>

#include "commands/command_line.hpp"
#include "commands/exit_status.hpp"
#include "helper/standard_streams.hpp"
#include "report/report_stream.hpp"

namespace mpiacq::tool {

namespace {

constexpr std::string_view out_of_memory = "mpiacq: out of memory\n";

/// Ends the program if memory runs out in a thread of the library or during a cleanup. The tracer server releases the
/// job, as after every end of the program.
[[noreturn]] void end_with_a_message() noexcept {
  if (const auto what = std::current_exception()) {
    try {
      std::rethrow_exception(what);
    } catch (const std::bad_alloc&) {
      (void)!write_all(STDERR_FILENO, out_of_memory);
      ::_exit(status_tool_failed);
    } catch (...) {
      (void)!write_all(STDERR_FILENO, "mpiacq: nothing caught an exception: this is a defect of mpiacq\n");
    }
  }
  std::abort();
}

}  // namespace

}  // namespace mpiacq::tool

int main(int argc, char** argv) {
  using namespace mpiacq::tool;
  std::set_terminate(end_with_a_message);
  if (!mpiacq::base::open_missing_streams()) return status_tool_failed;
  try {
    return run_command_line(argc, argv);
  } catch (const std::bad_alloc&) {
    (void)!write_all(STDERR_FILENO, out_of_memory);
    return status_tool_failed;
  }
}
