// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "host/daemon_command.hpp"

namespace mpiacq::pmix {

namespace {

// $0 is the program's path, $@ its arguments.
constexpr auto run_forwarded = "\"$0\" \"$@\"; exit 0";
constexpr auto run_in_silence = "\"$0\" \"$@\" >/dev/null 2>&1; exit 0";
constexpr auto start =
    "unset PMIX_RANK PMIX_NAMESPACE OMPI_COMM_WORLD_RANK PMI_RANK; "
    "[ -x \"$0\" ] && setsid \"$0\" \"$@\" </dev/null >/dev/null 2>&1 & exit 0";

std::vector<std::string> shell(const char* script, const std::string& program, std::span<const std::string> arguments) {
  std::vector<std::string> command{"/bin/sh", "-c", script, program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace

std::vector<std::string> daemon_that_runs(const std::string& program, std::span<const std::string> arguments,
                                          bool forward_output) {
  return shell(forward_output ? run_forwarded : run_in_silence, program, arguments);
}

std::vector<std::string> daemon_that_starts(const std::string& program, std::span<const std::string> arguments) {
  return shell(start, program, arguments);
}

}  // namespace mpiacq::pmix
