// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq watch --crash on jobs of srun: of Open MPI on one node, and of tasks without MPI on two nodes.
#include <csignal>

#include "catch.hpp"
#include "crash_ways.hpp"
#include "live_cluster.hpp"
#include "openmpi.hpp"
#include "slurm.hpp"

using namespace mpiacq::test;
using nlohmann::json;

TEST_CASE(
    "watch --crash: srun with Open MPI: the rank that fails is named with its line, and srun ends as without mpiacq",
    "[releases]") {
  const known_mpi mpi = {"openmpi", {"srun", "--mpi=pmix", "-N1", "-n3", "--overcommit"}};
  const live_cluster cluster;
  if (cluster.cannot_run()) MPIACQ_SKIP(cluster.said());
  if (!is_there(mpi, "mpi_crash")) MPIACQ_SKIP("Open MPI for C++ (openmpi-bin, libopenmpi-dev) is not installed");
  if (srun_has_inlined_its_breakpoint()) MPIACQ_SKIP(srun_without_breakpoint);
  INFO(cluster.said());
  REQUIRE(cluster.is_up());
  const auto listed = run_command({"srun", "--mpi=list"});
  if ((listed.out + listed.err).find("pmix") == std::string::npos) MPIACQ_SKIP("this Slurm has no plugin for PMIx");
  check_ways(mpi);
}

TEST_CASE("watch --crash: srun: a task without MPI that kills itself is named, and srun ends as without mpiacq",
          "[releases]") {
  const live_cluster cluster;
  if (cluster.cannot_run()) MPIACQ_SKIP(cluster.said());
  if (srun_has_inlined_its_breakpoint()) MPIACQ_SKIP(srun_without_breakpoint);
  INFO(cluster.said());
  REQUIRE(cluster.is_up());
  const std::string task =
      "test \"$SLURM_PROCID\" = 1 || exec sleep 2; "
      "while test -n \"$MPI_CRASH_TRACED\" && grep -q 'TracerPid:.0$' /proc/$$/status; do sleep 0.1; done; "
      "kill -BUS $$";
  const std::vector<std::string> line = {"srun", "-N2", "-n4", "--overcommit", "sh", "-c", task};
  const scratch_folder folder;
  const std::string reports = folder.path("reports");
  const auto run = watch_crash({"--report", reports}, line);
  INFO(run.err);
  const json report = report_in(reports);
  CHECK(report.at("verdict").at("sentence").get<std::string>().starts_with("rank 1 received SIGBUS from itself"));
  REQUIRE(report.at("crash").at("ends").size() == 1);
  CHECK(report.at("crash").at("ends").front().at("signal") == SIGBUS);
  CHECK(run.exit_code == run_command(line, openmpi_options()).exit_code);
}
