// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Jobs without a table on hosts whose names and pids are their own: agents find the ranks of the other hosts by the
// variables that the launcher sets. What the ranks print is what must come out.
#include "remote_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::vector<std::string> hydra_on_hosts() {
  return {"mpiexec.hydra", "-launcher", "ssh", "-hosts", "h1,h2,h3,h4", "-n", "8", rank_program("plain_pids")};
}

bool has_hydra() {
  return is_installed("mpiexec.hydra");
}

json report_of(const job_on_hosts& job, const std::vector<std::string>& line) {
  const auto run = run_command(job.mpiacq(line), with_patience());
  INFO(run.err);
  REQUIRE(!run.out.empty());
  return json::parse(run.out);
}

void check_ranks(const json& report, const job_on_hosts& job) {
  CHECK(report.at("source") == "environment");
  CHECK(pids_reported({{"processes", report.at("ranks")}}) == job.ranks());
  for (const json& rank : report.at("ranks")) {
    CHECK(rank.at("outcome") == "taken");
    CHECK(rank.at("host") == job.places().at(rank.at("rank").get<long>()));
  }
}

}  // namespace

TEST_CASE("Remote environment: stock Hydra on four hosts by ssh, by its starter") {
  if (!has_hydra()) MPIACQ_SKIP("MPICH (mpich) is not installed");
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(hosts, hydra_on_hosts());
  const json report = report_of(job, {"stacks", "--json"});
  check_ranks(report, job);
  CHECK(report.at("problems").empty());
  check_left_alone(job);
}

TEST_CASE("Remote environment: hosts that are named are asked, and those that are not are missing") {
  if (!has_hydra()) MPIACQ_SKIP("MPICH (mpich) is not installed");
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(hosts, hydra_on_hosts());
  const json all = report_of(job, {"stacks", "--json", "--hosts", "h2,h3,h4"});
  check_ranks(all, job);
  const json some = report_of(job, {"stacks", "--json", "--hosts", "h2"});
  CHECK(some.at("ranks").size() == 4);
  CHECK_THAT(some.at("problems").dump(), ContainsSubstring("not among the processes of this node and of h2"));
  const json none = report_of(job, {"stacks", "--json", "--agents", "none"});
  CHECK(none.at("ranks").size() == 2);
  CHECK_THAT(none.at("problems").dump(), ContainsSubstring("the ranks on h2, h3, h4 were not looked for"));
  check_left_alone(job);
}

TEST_CASE("Remote environment: a Slurm job by its number, from a host without srun") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(hosts, srun_on_hosts());
  const auto id = run_command(hosts.on("h2", {"sh", "-c", "squeue -h -o %A | head -n 1"}));
  REQUIRE(id.exit_code == 0);
  const std::string number = id.out.substr(0, id.out.find('\n'));
  const auto run =
      run_command(hosts.on("h2", {MPIACQ_COMMAND, "stacks", "--json", "slurm:" + number + ".0"}), with_patience());
  INFO(run.err << run.out);
  REQUIRE(!run.out.empty());
  const json report = json::parse(run.out);
  check_ranks(report, job);
  CHECK(report.at("launcher") == "slurm");
  const auto here =
      run_command(hosts.on("h1", {MPIACQ_COMMAND, "stacks", "--json", "slurm:" + number}), with_patience());
  REQUIRE(!here.out.empty());
  CHECK(json::parse(here.out).at("source") == "mpir");
  const auto not_there = run_command(hosts.on("h2", {MPIACQ_COMMAND, "stacks", "slurm:" + number + ".7"}));
  CHECK(not_there.exit_code == 125);
  CHECK_THAT(not_there.err, ContainsSubstring("there are processes of " + number + ".0"));
  check_left_alone(job);
}
