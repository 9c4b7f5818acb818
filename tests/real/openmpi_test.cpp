// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The distribution's Open MPI: stripped, its MPIR symbols in a library, its ranks held inside MPI_Init.
#include "openmpi.hpp"

#include <ctime>
#include <filesystem>

#include <sys/stat.h>

#include "killed_tool.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::vector<std::string> launch_line(const std::string& report, const std::vector<std::string>& application,
                                     const std::vector<std::string>& options = {}) {
  std::vector<std::string> line = {MPIACQ_COMMAND, "launch", "--json", "-o", report};
  line.insert(line.end(), options.begin(), options.end());
  line.emplace_back("--");
  const auto starter = mpirun_line(4, application);
  line.insert(line.end(), starter.begin(), starter.end());
  return line;
}

timespec modified(const std::string& path) {
  struct stat file {};
  REQUIRE(::stat(path.c_str(), &file) == 0);
  return file.st_mtim;
}

bool not_before(const timespec& a, const timespec& b) {
  return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec >= b.tv_nsec;
}

}  // namespace

TEST_CASE("Open MPI: the table has the pids that the ranks print, and the job's status is kept") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  struct ending {
    std::vector<std::string> application;
    int status;
  };
  const auto end = GENERATE(values<ending>({{{}, 0}, {{"--exit", "3"}, 3}, {{"--kill", "9"}, 128 + 9}}));
  const scratch_folder folder;
  const auto run = run_command(launch_line(folder.path("report"), end.application), openmpi_options());
  INFO(run.err);
  CHECK(run.exit_code == end.status);
  const json report = json::parse(file_contents(folder.path("report")));
  CHECK(report.at("event") == "spawned");
  CHECK(report.at("layout").at("source") == "inferred");
  CHECK(report.at("problems").empty());
  REQUIRE(pids_printed(run.out).size() == 4);
  CHECK(pids_reported(report) == pids_printed(run.out));
  for (const json& process : report.at("processes")) {
    CHECK(process.at("local") == true);
    CHECK(process.at("state") == "running");
    CHECK(process.at("executable") == rank_program("mpi_pids_openmpi"));
    CHECK(process.at("problems").empty());
  }
  CHECK_THAT(report.at("symbols").at("MPIR_Breakpoint").at("module").get<std::string>(),
             ContainsSubstring("libopen-rte"));
  CHECK_THAT(report.at("queue_library").get<std::string>(), ContainsSubstring("libompi_dbg_msgq"));
}

TEST_CASE("Open MPI: ranks are held in MPI_Init until the report is out") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const scratch_folder folder;
  const auto run =
      run_command(launch_line(folder.path("report"),
                              {"--after-init", std::filesystem::path(folder.path("x")).parent_path().string()}),
                  openmpi_options());
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const timespec reported = modified(folder.path("report"));
  for (int rank = 0; rank < 4; ++rank) {
    CHECK(not_before(modified(folder.path("rank." + std::to_string(rank))), reported));
  }
}

TEST_CASE("Open MPI: then detach and kill") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const scratch_folder folder;
  const auto detached =
      run_command(launch_line(folder.path("report"), {"--exit", "3"}, {"--then", "detach"}), openmpi_options());
  INFO(detached.err);
  CHECK(detached.exit_code == 3);
  CHECK(pids_reported(json::parse(file_contents(folder.path("report")))) == pids_printed(detached.out));

  const auto killed = run_command(launch_line(folder.path("report"), {}, {"--then", "kill"}), openmpi_options());
  INFO(killed.err);
  CHECK_FALSE(killed.timed_out);
  CHECK(killed.exit_code != 0);
  for (const auto& [rank, pid] : pids_reported(json::parse(file_contents(folder.path("report"))))) {
    // Whoever inherits them reaps them in its own time.
    CHECK(comes_true([pid = pid] { return process_state(pid) == ' ' || process_state(pid) == 'Z'; }));
  }
}

TEST_CASE("Open MPI: mpiacq killed at any moment leaves the job ending as it would have") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  check_killed_launches(
      {24, 3, [](const auto& report, const auto& options) { return launch_line(report, options); }, true});
}
