// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Open MPI's mpirun as distributions ship it, judged. Each verdict below was found by looking at it by other means.
#include <cstdlib>
#include <filesystem>

#include "check_verdicts.hpp"
#include "live_process.hpp"
#include "real_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

bool is_stripped(const std::string& file) {
  return run_command({"readelf", "-SW", file}).out.find(".symtab") == std::string::npos;
}

}  // namespace

TEST_CASE("check: Open MPI's mpirun") {
  if (!is_installed("mpirun.openmpi") || !std::filesystem::exists(rank_program("mpi_pids_openmpi"))) {
    MPIACQ_SKIP("Open MPI's mpirun and mpicc are not installed");
  }
  const scratch_folder folder;
  command_options how;
  how.environment = openmpi_environment();
  how.limit = std::chrono::seconds(100);
  const std::string marks = std::filesystem::path(folder.path("x")).parent_path().string();
  const auto run = run_command({MPIACQ_COMMAND, "check", "--json", "-o", folder.path("report"), "--", "mpirun.openmpi",
                                "-n", "2", rank_program("mpi_pids_openmpi"), "--after-init", marks, "--exit", "3"},
                               how);
  INFO(run.err);
  CHECK(run.exit_code == 1);
  CHECK(pids_printed(run.out).size() == 2);
  for (int rank = 0; rank < 2; ++rank) CHECK(std::filesystem::exists(folder.path("rank." + std::to_string(rank))));
  const json report = json::parse(file_contents(folder.path("report")));
  CHECK(report.at("starter").at("ended").at("exit_status") == 3);
  check_verdicts(report,
                 {{"3.2", "pass"},           {"6.1a", "pass"}, {"6.2a", "pass"}, {"7.1a", "pass"}, {"7.2a", "pass"},
                  {"7.2b", "pass"},          {"8", "pass"},    {"9.2d", "pass"}, {"9.2f", "pass"}, {"9.2h", "pass"},
                  {"9.2i", "pass"},          {"9.3b", "pass"}, {"9.4b", "pass"}, {"9.4c", "pass"}, {"9.5b", "pass"},
                  {"9.6b", "pass"},          {"9.6c", "pass"}, {"9.6d", "pass"}, {"9.9a", "pass"}, {"9.9b", "pass"},
                  {"9.10a", "pass"},         {"9.13", "pass"}, {"9.15", "pass"}, {"9.16", "pass"}, {"9.17b", "pass"},
                  {"dll", "pass"},           {"6.2c", "fail"},  // its ranks export MPIR_debug_gate
                  {"9.10c", "fail"},                            // and map libopen-rte, which has MPIR_i_am_starter
                  {"9.7b", "not-applicable"}});
  // The library is in the words of 3.2: "in FILE".
  const std::string saw = report.at("clauses").at(0).at("saw");
  const std::string library = saw.substr(saw.find('/'));
  if (is_stripped(library)) check_verdicts(report, {{"4.1c", "fail"}, {"9.2a", "not-applicable"}});
}

TEST_CASE("check PID: a running mpirun, with a daemon of ours") {
  if (!is_installed("mpirun.openmpi") || !std::filesystem::exists(rank_program("mpi_pids_openmpi"))) {
    MPIACQ_SKIP("Open MPI's mpirun and mpicc are not installed");
  }
  const scratch_folder folder;
  const std::string marks = std::filesystem::path(folder.path("x")).parent_path().string();
  for (const auto& [name, value] : openmpi_environment()) ::setenv(name.c_str(), value.c_str(), 1);
  live_process starter({"mpirun.openmpi", "-n", "2", rank_program("mpi_pids_openmpi"), "--hold", marks, "--exit", "3"});
  REQUIRE(comes_true([&] { return std::filesystem::exists(folder.path("ready")); }));
  const auto run = run_command({MPIACQ_COMMAND, "check", "--json", "--daemon", "/bin/sleep", "--daemon-arg", "7",
                                "--daemon-arg", "0", std::to_string(starter.pid().value())});
  INFO(run.err);
  CHECK(run.exit_code == 1);
  check_verdicts(json::parse(run.out), {{"6.1b", "pass"},
                                        {"7.1b", "pass"},
                                        {"7.2a", "pass"},
                                        {"9.2h", "pass"},
                                        {"9.2i", "pass"},
                                        {"9.3b", "pass"},
                                        {"9.4b", "pass"},
                                        {"9.5b", "pass"},
                                        {"9.17b", "pass"},
                                        {"9.10c", "fail"},
                                        {"6.2a", "not-applicable"}});
  const int status = starter.end();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
}
