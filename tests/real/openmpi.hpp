// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The distribution's Open MPI, and the command lines for it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "real_job.hpp"
#include "running_job.hpp"

namespace mpiacq::test {

inline const std::string mpirun = "mpirun.openmpi";
inline constexpr const char* openmpi_not_installed = "Open MPI (openmpi-bin, libopenmpi-dev) is not installed";
/// Where its starter's symbols are.
inline constexpr const char* openmpi_library = "libopen-rte.so";

inline bool have_openmpi() {
  return is_installed(mpirun) && std::filesystem::exists(rank_program("mpi_pids_openmpi"));
}

/// mpirun with so many ranks of mpi_pids.
inline std::vector<std::string> mpirun_line(int ranks, const std::vector<std::string>& application = {}) {
  std::vector<std::string> line = {mpirun, "--oversubscribe", "-n", std::to_string(ranks),
                                   rank_program("mpi_pids_openmpi")};
  line.insert(line.end(), application.begin(), application.end());
  return line;
}

/// mpirun with three ranks that wait for each other.
inline std::vector<std::string> deadlock_line() {
  return {mpirun, "--oversubscribe", "--mca", "pml", "ob1", "-n", "3", rank_program("mpi_deadlock_openmpi")};
}

/// The variables that a daemon's launch writes into mpirun.
inline std::string daemon_variables(const running_job& job) {
  std::string all;
  for (const char* variable : {"MPIR_being_debugged", "MPIR_executable_path", "MPIR_server_arguments"}) {
    const std::string bytes = bytes_of_symbol(job.pid(), openmpi_library, variable);
    CHECK_FALSE(bytes.empty());
    all += bytes;
  }
  return all;
}

inline command_options openmpi_options() {
  command_options how;
  how.environment = openmpi_environment();
  how.limit = std::chrono::seconds(90);
  return how;
}

}  // namespace mpiacq::test
