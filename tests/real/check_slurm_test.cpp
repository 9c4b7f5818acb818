// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Slurm's srun as distributions ship it, judged. Each verdict below was found by looking at it by other means.
#include "check_verdicts.hpp"
#include "real_job.hpp"
#include "slurm.hpp"

using namespace mpiacq::test;
using nlohmann::json;

TEST_CASE("check: Slurm's srun", "[releases]") {
  const scratch_folder folder;
  command_options how;
  how.limit = std::chrono::seconds(150);
  const auto run =
      run_command({MPIACQ_SLURM_CLUSTER, "run", "--", MPIACQ_COMMAND, "check", "--json", "-o", folder.path("report"),
                   "--", "srun", "-N2", "-n4", "--overcommit", rank_program("plain_pids"), "--exit", "3"},
                  how);
  INFO(run.err);
  if (run.exit_code == cluster_cannot_run) MPIACQ_SKIP(run.err);
  const json report = json::parse(file_contents(folder.path("report")));
  CHECK(run.exit_code == 1);
  CHECK(report.at("starter").at("ended").at("exit_status") == 3);
  CHECK(pids_printed(run.out).size() == 4);
  if (verdicts(report).at("9.9b") != "pass") MPIACQ_SKIP("this srun never calls its MPIR_Breakpoint");
  check_verdicts(report, {{"3.2", "pass"},
                          {"4.1c", "fail"},
                          {"6.1a", "pass"},
                          {"6.2a", "pass"},
                          {"8", "pass"},
                          {"9.2g", "pass"},
                          {"9.2h", "pass"},
                          {"9.2i", "pass"},
                          {"9.3b", "pass"},
                          {"9.4b", "pass"},
                          {"9.5b", "pass"},
                          {"9.6b", "pass"},
                          {"9.6d", "pass"},
                          {"9.10a", "pass"},
                          {"9.11", "pass"},
                          {"9.13", "pass"},
                          {"9.17a", "not-applicable"}});
}
