// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Open MPI 5 and later, whose mpirun (PRRTE) has no MPIR: its jobs by the environment of their ranks.
#include <filesystem>

#include "found_job.hpp"
#include "openmpi.hpp"

using namespace mpiacq::test;
using nlohmann::json;

TEST_CASE("Open MPI 5: a job by mpirun and by each of its ranks, from the environment", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  constexpr std::size_t ranks = 4;
  const int status = GENERATE(0, 3);
  running_job job(mpirun_line(ranks, {"--exit", std::to_string(status)}), ranks);
  REQUIRE(job.ranks().size() == ranks);
  // mpirun has become PRRTE's starter.
  CHECK(std::filesystem::read_symlink("/proc/" + job.pid_text() + "/exe").filename() == "prte");

  const json list = report_of({"jobs", "--json"});
  REQUIRE(list.at("jobs").size() == 1);
  const json& row = list.at("jobs").at(0);
  CHECK(row.at("pid") == job.pid());
  CHECK(row.at("launcher") == "prrte");
  CHECK(row.at("ranks_here") == ranks);
  CHECK(row.at("ranks") == ranks);
  // A server that is not asked is a problem, as long as PMIx is not chosen.
  CHECK(row.at("problems").empty() == is_asked_by_default(job));

  for (const std::string& pid : pids_of(job)) {
    const json report = report_of({"stacks", "--json", "--source", "environment", pid});
    check_stacks(report, job, "environment");
  }
  check_left_alone(job, status);
}

TEST_CASE("Open MPI 5: the queues by mpirun and by a rank name the deadlock, from the environment", "[only releases]") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  const running_job job(deadlock_line(), 3);
  REQUIRE(job.ranks().size() == 3);
  for (const std::string& pid : {job.pid_text(), std::to_string(job.ranks().at(1))}) {
    const json seen = deadlock_reported(pid, "environment");
    INFO(seen.dump(1));
    CHECK_THAT(seen.at("library").at("path").get<std::string>(), ContainsSubstring("libompi_dbg_msgq"));
    for (const json& rank : seen.at("ranks")) {
      CHECK(rank.at("outcome") == "complete");
      CHECK(rank.at("call") == "MPI_Recv");
      CHECK(rank.at("pid") == job.ranks().at(rank.at("rank")));
    }
    CHECK_THAT(run_command({MPIACQ_COMMAND, "queues", "--source", "environment", pid}, openmpi_options()).out,
               ContainsSubstring("DEADLOCK: 0 -> 1 -> 2 -> 0"));
  }
  CHECK(comes_true([&] { return job.disturbed().empty(); }));
}
