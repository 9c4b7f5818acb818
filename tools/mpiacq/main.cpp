// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <variant>

#include <unistd.h>

#include "commands/command_line.hpp"
#include "commands/commands.hpp"
#include "commands/core_command.hpp"
#include "commands/exit_status.hpp"
#include "helper/standard_streams.hpp"
#include "report/output_queue.hpp"
#include "report/report_stream.hpp"

namespace mpiacq::tool {

namespace {

constexpr std::string_view out_of_memory = "mpiacq: out of memory\n";

int run(const invocation& asked) {
  if (const auto* launch = std::get_if<launch_options>(&asked)) return run_launch(*launch);
  if (const auto* attach = std::get_if<attach_command_options>(&asked)) return run_attach(*attach);
  if (const auto* inspect = std::get_if<inspect_options>(&asked)) return run_inspect(*inspect);
  if (const auto* core = std::get_if<core_report_options>(&asked)) return run_core(*core);
  if (const auto* check = std::get_if<check_options>(&asked)) return run_check(*check);
  if (const auto* stacks = std::get_if<stacks_options>(&asked)) return run_stacks(*stacks);
  if (const auto* graph = std::get_if<graph_command_options>(&asked)) return run_graph(*graph);
  if (const auto* queues = std::get_if<queues_options>(&asked)) return run_queues(*queues);
  if (const auto* types = std::get_if<types_options>(&asked)) return run_types(*types);
  return std::get<finished>(asked).status;
}

/// Memory that is short in a thread of the library, or while something is cleaned up, ends the program here. The
/// tracing process lets go of the job, as it does however the program ends.
[[noreturn]] void end_in_terms() noexcept {
  if (const auto what = std::current_exception()) {
    try {
      std::rethrow_exception(what);
    } catch (const std::bad_alloc&) {
      (void)!write_all(STDERR_FILENO, out_of_memory);
      ::_exit(status_tool_failed);
    } catch (...) {
      (void)!write_all(STDERR_FILENO, "mpiacq: an exception that nothing has caught; this is a fault of mpiacq\n");
    }
  }
  std::abort();
}

/// The command's own status, unless a report could not be written. A starter that failed has more to say than we have.
int after_output(const invocation& asked, int status) {
  const bool is_starters = std::holds_alternative<launch_options>(asked) && status != status_ok;
  return the_output().drain() || is_starters ? status : status_tool_failed;
}

int run_and_write(int argc, char** argv) {
  const invocation asked = parse_command_line(argc, argv);
  // When `run` is over, nothing is held any more: the reader of the output may take its time.
  return after_output(asked, run(asked));
}

}  // namespace

}  // namespace mpiacq::tool

int main(int argc, char** argv) {
  using namespace mpiacq::tool;
  std::set_terminate(end_in_terms);
  if (!mpiacq::base::open_missing_streams()) return status_tool_failed;
  try {
    return run_and_write(argc, argv);
  } catch (const std::bad_alloc&) {
    (void)!write_all(STDERR_FILENO, out_of_memory);
    return status_tool_failed;
  }
}
