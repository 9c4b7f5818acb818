// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The distribution's Open MPI, started by its Slurm, which serves the ranks by PMIx. One node: with two nodes on one
// machine, Slurm 22.05 cancels such a step.
#include "live_cluster.hpp"
#include "openmpi.hpp"
#include "running_job.hpp"
#include "slurm.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

/// Why this machine cannot run such a job; empty: it can.
std::string missing(const live_cluster& cluster) {
  if (cluster.cannot_run()) return cluster.said();
  if (!std::filesystem::exists(rank_program("mpi_deadlock_openmpi"))) return openmpi_not_installed;
  if (srun_has_inlined_its_breakpoint()) return srun_without_breakpoint;
  INFO(cluster.said());
  REQUIRE(cluster.is_up());
  const auto listed = run_command({"srun", "--mpi=list"});
  return (listed.out + listed.err).find("pmix") == std::string::npos ? "this Slurm has no plugin for PMIx" : "";
}

std::vector<std::string> srun_line(const std::string& program) {
  return {"srun", "--mpi=pmix", "-N1", "-n2", "--overcommit", rank_program(program)};
}

/// The report of a command on a process.
json report_of(const std::vector<std::string>& command, long pid) {
  std::vector<std::string> words = {MPIACQ_COMMAND};
  words.insert(words.end(), command.begin(), command.end());
  words.insert(words.end(), {"--json", std::to_string(pid)});
  const auto run = run_command(words, openmpi_options());
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  return json::parse(run.out);
}

}  // namespace

TEST_CASE("Slurm with PMIx: every command finds srun's job of Open MPI, by srun and by a rank", "[releases]") {
  const live_cluster cluster;
  if (const std::string why = missing(cluster); !why.empty()) MPIACQ_SKIP(why);
  running_job job(srun_line("mpi_deadlock_openmpi"), 2);
  INFO(job.out());
  REQUIRE(job.ranks().size() == 2);
  for (const long named : {static_cast<long>(job.pid()), job.ranks().at(1)}) {
    INFO(named);
    const json attached = report_of({"attach", "--then", "detach"}, named);
    CHECK(attached.at("starter").at("pid") == job.pid());
    CHECK(pids_reported(attached) == job.ranks());
    const json stacks = report_of({"stacks"}, named);
    INFO(stacks.dump(1));
    CHECK(stacks.at("starter").at("pid") == job.pid());
    CHECK(stacks.at("problems").empty());
    const json queues = report_of({"queues"}, named);
    CHECK(queues.at("starter").at("pid") == job.pid());
    CHECK(queues.at("cycles").size() == 1);
  }
  CHECK(job.disturbed() == "");
}

TEST_CASE("Slurm with PMIx: launch reports the pids that the ranks of Open MPI print, and ends with srun's status",
          "[releases]") {
  const live_cluster cluster;
  if (const std::string why = missing(cluster); !why.empty()) MPIACQ_SKIP(why);
  const scratch_folder folder;
  std::vector<std::string> words = {MPIACQ_COMMAND, "launch", "--json", "-o", folder.path("report"), "--"};
  const auto line = srun_line("mpi_pids_openmpi");
  words.insert(words.end(), line.begin(), line.end());
  words.insert(words.end(), {"--exit", "3"});
  const auto run = run_command(words, openmpi_options());
  INFO(run.out);
  INFO(run.err);
  CHECK(run.exit_code == 3);
  REQUIRE(pids_printed(run.out).size() == 2);
  CHECK(pids_reported(json::parse(file_contents(folder.path("report")))) == pids_printed(run.out));
}
