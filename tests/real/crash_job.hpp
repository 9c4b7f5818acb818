// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Jobs in which one rank fails. The oracle is what the rank has written, and how the starter ends without mpiacq.
#pragma once

#include <string>
#include <vector>

#include "openmpi.hpp"

namespace mpiacq::test {

/// The command with these words before the starter's. The failing rank waits until a tool follows it, and writes into
/// the file `place` where it fails: "mpi_crash.cpp:44".
inline command_outcome watch_crash(const std::vector<std::string>& options, const std::vector<std::string>& starter,
                                   const std::string& place = {}) {
  std::vector<std::string> line = {MPIACQ_COMMAND, "watch", "--crash"};
  line.insert(line.end(), options.begin(), options.end());
  line.emplace_back("--");
  line.insert(line.end(), starter.begin(), starter.end());
  command_options how = openmpi_options();
  how.environment["MPI_CRASH_TRACED"] = "1";
  if (!place.empty()) how.environment["MPI_CRASH_PLACE"] = place;
  return run_command(line, how);
}

inline nlohmann::json report_in(const std::string& folder) {
  return nlohmann::json::parse(file_contents(folder + "/report.json"));
}

}  // namespace mpiacq::test
