// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Jobs in which one rank fails. The oracle is what the rank has printed, and how the starter ends without mpiacq.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "openmpi.hpp"

namespace mpiacq::test {

/// "mpi_crash.cpp:44", as the failing rank has printed it.
inline std::string failing_place(const std::string& out) {
  constexpr std::string_view words = "fails at ";
  const std::size_t at = out.find(words);
  if (at == std::string::npos) return "no place was printed";
  const std::size_t begin = at + words.size();
  return out.substr(begin, out.find('\n', begin) - begin);
}

/// The environment of a job whose failing rank waits until a tool follows it.
inline std::map<std::string, std::string> followed_environment() {
  auto environment = openmpi_environment();
  environment["MPI_CRASH_TRACED"] = "1";
  return environment;
}

/// The command with these words before the starter's.
inline command_outcome watch_crash(const std::vector<std::string>& options, const std::vector<std::string>& starter) {
  std::vector<std::string> line = {MPIACQ_COMMAND, "watch", "--crash"};
  line.insert(line.end(), options.begin(), options.end());
  line.emplace_back("--");
  line.insert(line.end(), starter.begin(), starter.end());
  command_options how = openmpi_options();
  how.environment = followed_environment();
  return run_command(line, how);
}

inline nlohmann::json report_in(const std::string& folder) {
  return nlohmann::json::parse(file_contents(folder + "/report.json"));
}

}  // namespace mpiacq::test
