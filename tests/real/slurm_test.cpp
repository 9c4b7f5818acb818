// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The distribution's Slurm, on a cluster of two nodes that lives as long as the test.
#include "slurm.hpp"

using namespace mpiacq::test;
using nlohmann::json;

TEST_CASE("Slurm: four tasks on two nodes have the pids that they print, their nodes, and the job's id", "[releases]") {
  if (is_installed("srun") && srun_has_inlined_its_breakpoint()) MPIACQ_SKIP(srun_without_breakpoint);
  const scratch_folder folder;
  const std::string report_file = folder.path("report");
  command_options how;
  how.limit = std::chrono::seconds(150);
  const auto status = GENERATE(0, 3);
  // The tasks' oracle beside their output: squeue's word for the job would come too late.
  const auto run = run_command({MPIACQ_SLURM_CLUSTER, "run", "--", MPIACQ_COMMAND, "launch", "--json", "-o",
                                report_file, "--", "srun", "-N2", "-n4", "--overcommit", "sh", "-c",
                                "echo job $SLURM_JOB_ID; echo node $SLURM_PROCID $SLURMD_NODENAME; exec \"$0\" \"$@\"",
                                rank_program("plain_pids"), "--exit", std::to_string(status)},
                               how);
  INFO(run.err);
  if (run.exit_code == cluster_cannot_run) MPIACQ_SKIP(run.err);
  CHECK(run.exit_code == status);
  const json report = json::parse(file_contents(report_file));
  CHECK(report.at("event") == "spawned");
  CHECK(report.at("layout").at("source") == "inferred");
  REQUIRE(pids_printed(run.out).size() == 4);
  CHECK(pids_reported(report) == pids_printed(run.out));
  CHECK_THAT(run.out, ContainsSubstring("job " + report.at("starter").at("job_id").get<std::string>() + "\n"));
  for (const json& process : report.at("processes")) {
    INFO(process.dump());
    CHECK_THAT(run.out, ContainsSubstring("node " + std::to_string(process.at("rank").get<int>()) + " " +
                                          process.at("host").get<std::string>() + "\n"));
    // Both nodes are this host: their names are Slurm's alone.
    CHECK(process.at("local") == true);
    // A task that its node's daemon stops is shown as running until the kernel has scheduled it. mpiacq writes the
    // report after it has released srun, so a task can run before the file is there.
    CHECK((process.at("state") == "stopped" || process.at("state") == "running"));
  }
  CHECK_THAT(report.at("symbols").at("MPIR_Breakpoint").at("module").get<std::string>(), ContainsSubstring("srun"));
}

// Slurm's daemon stops each task before its program begins, and does not continue a task that has a tracer then. The
// looks of `watch` begin while tasks are being started.
TEST_CASE("Slurm: watch leaves no task stopped") {
  if (is_installed("srun") && srun_has_inlined_its_breakpoint()) MPIACQ_SKIP(srun_without_breakpoint);
  command_options how;
  how.limit = std::chrono::seconds(150);
  const auto run = run_command({MPIACQ_SLURM_CLUSTER, "run", "--", "sh", "-c",
                                "for job in 1 2 3; do \"$0\" watch --hang 1 -- srun -N2 -n4 --overcommit sh -c "
                                "'sleep 1; echo task $SLURM_PROCID ends' || exit 1; done",
                                MPIACQ_COMMAND},
                               how);
  INFO(run.err);
  if (run.exit_code == cluster_cannot_run) MPIACQ_SKIP(run.err);
  CHECK(run.exit_code == 0);
  std::size_t ends = 0;
  for (std::size_t at = run.out.find(" ends\n"); at != std::string::npos; at = run.out.find(" ends\n", at + 1)) ++ends;
  CHECK(ends == std::size_t{3} * 4);
}
