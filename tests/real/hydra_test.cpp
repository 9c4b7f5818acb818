// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The distribution's MPICH: its mpiexec does not export the symbols and is stripped. No tool can find them without its
// debug file, and with --source mpir the error of mpiacq names the missing symbols.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "real_job.hpp"

using namespace mpiacq::test;

TEST_CASE("MPICH: a stripped mpiexec.hydra ends in a sentence that names symbols, module and build id", "[releases]") {
  if (!is_installed("mpiexec.hydra") || !std::filesystem::exists(rank_program("mpi_pids_mpich"))) {
    MPIACQ_SKIP("MPICH (mpich, libmpich-dev) is not installed");
  }
  const auto run = run_command(
      {MPIACQ_COMMAND, "launch", "--source", "mpir", "--", "mpiexec.hydra", "-n", "2", rank_program("mpi_pids_mpich")});
  INFO(run.err);
  // The job itself was not disturbed. (On Ubuntu 24.04 both processes are rank 0: this mpiexec and libmpich do not find
  // each other there.)
  CHECK(std::count(run.out.begin(), run.out.end(), '\n') == 2);
  CHECK(run.exit_code == 125);
  const std::string program = std::filesystem::canonical("/usr/bin/mpiexec.hydra").string();
  CHECK_THAT(run.err, ContainsSubstring(program));
  for (const char* symbol : {"MPIR_Breakpoint", "MPIR_proctable", "MPIR_proctable_size", "MPIR_debug_state"}) {
    CHECK_THAT(run.err, ContainsSubstring(symbol));
  }
  std::istringstream notes(run_command({"readelf", "-n", program}).out);
  std::string build_id;
  for (std::string line; std::getline(notes, line);) {
    if (const auto at = line.find("Build ID: "); at != std::string::npos) build_id = line.substr(at + 10);
  }
  REQUIRE(build_id.size() >= 16);
  CHECK_THAT(run.err, ContainsSubstring(build_id));
}
