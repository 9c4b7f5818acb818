// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq watch on Open MPI: a job that hangs, and one that makes progress.
#include <chrono>

#include "catch.hpp"
#include "openmpi.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

command_outcome watch(std::vector<std::string> options, const std::vector<std::string>& starter) {
  options.insert(options.begin(), {MPIACQ_COMMAND, "watch"});
  options.emplace_back("--");
  options.insert(options.end(), starter.begin(), starter.end());
  return run_command(options, openmpi_options());
}

}  // namespace

TEST_CASE("Open MPI: watch reports a job that hangs, ends it, and exits with 124") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const scratch_folder folder;
  const auto begin = std::chrono::steady_clock::now();
  const auto run = watch({"--hang", "4", "--report", folder.path("reports"), "--then", "kill"}, deadlock_line());
  INFO(run.err);
  CHECK(run.exit_code == 124);
  CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::seconds(4));
  CHECK_THAT(run.err, ContainsSubstring("no rank has moved for ") && ContainsSubstring("wait for each other"));
  const json report = json::parse(file_contents(folder.path("reports") + "/report.json"));
  CHECK(report.at("verdict").at("basis") == "deadlock");
  CHECK(report.at("verdict").at("ranks") == "0-2");
  for (const auto& [rank, pid] : pids_printed(run.out)) {
    const auto process = static_cast<pid_t>(pid);
    CHECK(comes_true([process] { return process_state(process) == ' '; }));
  }
}

TEST_CASE("Open MPI: watch lets a job run that makes progress, and ends with its status") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  // The ranks of a Jacobi solver, which has no end of its own.
  const std::vector<std::string> solver = {mpirun,    "--oversubscribe",
                                           "-n",      "2",
                                           "timeout", "--preserve-status",
                                           "-s",      "KILL",
                                           "8",       rank_program("mpi_progress_openmpi"),
                                           "jacobi"};
  const auto run = watch({"--hang", "4"}, solver);
  INFO(run.err);
  // Open MPI gives the signal of a rank as its status.
  CHECK(run.exit_code == 128 + 9);
  CHECK(run.err.find("no rank has moved") == std::string::npos);
}
