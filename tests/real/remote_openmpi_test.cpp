// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Agents for a job of the distribution's Open MPI on hosts whose names, addresses and pids are their own, which mpirun
// reaches through ssh.
#include <filesystem>

#include "openmpi.hpp"
#include "remote_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

std::vector<std::string> mpirun_on(const std::string& places, const std::vector<std::string>& rest) {
  std::vector<std::string> line = {mpirun, "--host", places};
  line.insert(line.end(), rest.begin(), rest.end());
  return line;
}

/// Eight ranks, two on each host, in order.
std::vector<std::string> eight_ranks() {
  return mpirun_on("h1:2,h2:2,h3:2,h4:2", {"-n", "8", rank_program("mpi_pids_openmpi"), "--exit", "3"});
}

}  // namespace

TEST_CASE("Remote Open MPI: one tree over the ranks of four hosts") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(hosts, eight_ranks());
  const auto* by = GENERATE("automatic", "mpir", "ssh");
  INFO(by);
  check_one_tree(job, by);
  check_left_alone(job, 3);
}

TEST_CASE("Remote Open MPI: launch has the agents of all hosts come as the starter's daemons") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  const std::string file = hosts.path("report");
  std::vector<std::string> line = {MPIACQ_COMMAND, "launch", "--stacks", "--json", "-o", file, "--"};
  for (const std::string& word : eight_ranks()) line.push_back(word);
  const auto run = hosts.run("h1", line, openmpi_options());
  INFO(run.err << run.out);
  CHECK(run.exit_code == 3);
  CHECK(run.err.find("mpiacq") == std::string::npos);
  const json report = json::parse(file_contents(file));
  CHECK(pids_reported(report) == pids_printed(run.out));
  CHECK(report.at("problems").empty());
  const json& stacks = report.at("stacks");
  for (const json& rank : stacks.at("ranks")) CHECK(rank.at("outcome") == "taken");
  CHECK(ranks_of_tree(stacks.at("tree")) == "0-7");
  CHECK(comes_true([&] { return none_has_agents(hosts); }));
}

TEST_CASE("Remote Open MPI: attach shows the stacks of all hosts, and leaves the job as it was") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(hosts, eight_ranks());
  const auto run = run_command(job.mpiacq({"attach", "--stacks", "--json", "--then", "detach"}), with_patience());
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(run.err == "");
  const json report = json::parse(run.out);
  CHECK(pids_reported(report) == job.ranks());
  CHECK(report.at("stacks").at("tree").at(0).at("ranks") == "0-7");
  check_left_alone(job, 3);
}

TEST_CASE("Remote Open MPI: two ranks on different hosts that wait for each other are reported as a deadlock") {
  if (!std::filesystem::exists(rank_program("mpi_deadlock_openmpi"))) MPIACQ_SKIP(openmpi_not_installed);
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  const std::string types = hosts.path("openmpi.types");
  const auto made = run_command({MPIACQ_COMMAND, "types", "openmpi", "-o", types});
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  const job_on_hosts job(
      hosts, mpirun_on("h2:1,h3:1", {"-n", "2", "--mca", "pml", "ob1", rank_program("mpi_deadlock_openmpi")}), 2);
  REQUIRE(job.places() == std::map<long, std::string>{{0, "h2"}, {1, "h3"}});
  const auto look = [&](const std::string& by) {
    const auto run = run_command(job.mpiacq({"queues", "--json", "--types", types, "--agents", by}), with_patience());
    INFO(run.err);
    REQUIRE(!run.out.empty());
    return json::parse(run.out);
  };
  // Once both are in the calls that they wait in for ever.
  CHECK(comes_true([&] { return !look("ssh").at("cycles").empty(); }));
  for (const char* by : {"ssh", "mpir"}) {
    const json seen = look(by);
    INFO("by " << by << ": " << seen.dump(1));
    CHECK(seen.at("cycles") == json::parse("[[0, 1]]"));
    REQUIRE(seen.at("deadlocks").size() == 1);
    CHECK(seen.at("deadlocks").at(0).at("certain") == true);
    for (const int rank : {0, 1}) {
      const json& row = seen.at("ranks").at(static_cast<std::size_t>(rank));
      CHECK(row.at("pid") == job.ranks().at(rank));
      CHECK(row.at("host") == job.places().at(rank));
      CHECK(row.at("call") == "MPI_Recv");
      CHECK(row.at("pml") == "ob1");
    }
  }
  const auto stacks = run_command(job.mpiacq({"stacks", "--args", "--json", "--agents", "ssh"}), with_patience());
  INFO(stacks.err << stacks.out);
  CHECK(stacks.exit_code == 0);
  const json calls = json::parse(stacks.out).at("ranks");
  for (const int rank : {0, 1}) {
    const json& row = calls.at(static_cast<std::size_t>(rank));
    CHECK(row.at("call") == "MPI_Recv");
    std::map<std::string, json> known;
    for (const json& one : row.at("arguments")) known[one.at("role")] = one.at("value");
    CHECK(known["source"] == 1 - rank);
    CHECK(known["tag"] == 7 + rank);
    CHECK(known["count"] == 8 * (rank + 1));
  }
  CHECK(comes_true([&] { return none_has_agents(hosts) && job.disturbed().empty(); }));
}
