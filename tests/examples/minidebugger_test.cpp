// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The example with a control loop of its own: what it prints is what the starter wrote down, and the starter ends as it
// would have.
#include <sstream>

#include <unistd.h>

#include "catch.hpp"
#include "run_command.hpp"

using namespace mpiacq::test;

namespace {

/// "rank R is pid P on H" as the oracle has it.
std::string table_of(const std::map<std::string, std::string>& oracle, int ranks) {
  std::ostringstream lines;
  for (int r = 0; r < ranks; ++r) {
    const std::string rank = "rank." + std::to_string(r);
    lines << "rank " << r << " is pid " << oracle.at(rank + ".pid") << " on " << oracle.at(rank + ".host") << "\n";
  }
  return lines.str();
}

}  // namespace

TEST_CASE("minidebugger: the table as the starter wrote it, being_debugged 1 and then 0, the starter's status") {
  const scratch_folder folder;
  for (const std::string name :
       {"starter_pie", "starter_static", "starter_stripped", "starter_library", "starter_loads_later",
        "starter_threads", "starter_execs_itself", "starter_build_id"}) {
    INFO(name);
    const std::string oracle_path = folder.path(name);
    command_options how;
    how.environment["MPIACQ_ORACLE"] = oracle_path;
    const auto ran = run_command({MPIACQ_MINIDEBUGGER, std::string(MPIACQ_STARTERS) + "/" + name, "--exit", "7"}, how);
    const auto oracle = read_oracle(oracle_path);
    CHECK_FALSE(ran.timed_out);
    CHECK(ran.exit_code == 7);
    // With its debug file elsewhere the stripped program has no symbols to find.
    if (name == "starter_build_id") {
      CHECK(ran.err.empty());
      continue;
    }
    CHECK(ran.err == table_of(oracle, 4));
    CHECK(oracle.at("being_debugged_at_end") == "0");
    for (int r = 0; r < 4; ++r) CHECK(oracle.at("rank." + std::to_string(r) + ".wait_status") == "0x0");
    // Every call of the breakpoint ran its body whole, the one under the trap too.
    CHECK(oracle.at("breakpoint_calls") == (name == "starter_threads" ? "256" : "1"));
  }
}

TEST_CASE("minidebugger: an event that says nothing, a spawn, an abort after it was let go") {
  const scratch_folder folder;
  command_options how;
  how.environment["MPIACQ_ORACLE"] = folder.path("oracle");
  const auto ran = run_command({MPIACQ_MINIDEBUGGER, std::string(MPIACQ_STARTERS) + "/starter_three_states"}, how);
  CHECK(ran.exit_code == 0);
  CHECK(ran.err == table_of(read_oracle(folder.path("oracle")), 4));
  CHECK(read_oracle(folder.path("oracle")).at("breakpoint_calls") == "3");
}

TEST_CASE("minidebugger: Open MPI's mpirun") {
  const std::string app = MPIACQ_RANKS "/mpi_pids_openmpi";
  if (!is_installed("mpirun.openmpi") || ::access(app.c_str(), X_OK) != 0) {
    MPIACQ_SKIP("Open MPI (openmpi-bin, libopenmpi-dev) is not installed");
  }
  command_options how;
  how.limit = std::chrono::seconds(90);
  how.environment = {
      {"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}, {"OMPI_MPIR_DO_NOT_WARN", "1"}};
  const auto ran = run_command({MPIACQ_MINIDEBUGGER, "mpirun.openmpi", "--oversubscribe", "-n", "4", app}, how);
  CHECK(ran.exit_code == 0);
  // The ranks print "rank R pid P ...".
  std::istringstream said(ran.out);
  int ranks = 0;
  for (std::string line; std::getline(said, line);) {
    std::istringstream words(line);
    std::string rank_word, rank, pid_word, pid;
    if (!(words >> rank_word >> rank >> pid_word >> pid) || rank_word != "rank") continue;
    ++ranks;
    CHECK_THAT(ran.err, ContainsSubstring("rank " + rank + " is pid " + pid + " on "));
  }
  CHECK(ranks == 4);
}
