// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The graph of an MPI2DD job on hosts whose names, addresses and pids are their own: two jobs of the fixture, each on
// its host and both in one step of Slurm's, whose metadirectories know each other by the other's host and pid.
#include <set>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "live_process.hpp"
#include "remote_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

/// "h1 4711": processes as their hosts number them.
using places = std::set<std::string>;

class two_jobs {
 public:
  explicit two_jobs(const private_hosts& hosts)
      : hosts_(hosts),
        step_(hosts.on(
            "h1", {"srun", "-N2", "-n2", "-wh1,h2", "sh", "-c",
                   "unset SLURM_PROCID; export MPIACQ_ORACLE=$0.$(hostname); exec $1 --ranks 2 --world w.$(hostname) "
                   "--metadirectory --directories 1 --hold",
                   hosts.path("oracle"), MPIACQ_MPI2DD "/mpi2dd_starter"})) {
    (void)step_.lines_until_ready();
    (void)step_.lines_until_ready();
    list("h1", "h2");
    list("h2", "h1");
  }

  [[nodiscard]] std::string pid(const std::string& host, const std::string& key) const {
    const auto all = read_oracle(hosts_.path("oracle." + host));
    const auto found = all.find(key);
    return found == all.end() ? "0" : found->second;
  }
  /// What there is to be visited, and which ranks are to be found.
  [[nodiscard]] places visited() const {
    places all;
    for (const std::string host : {"h1", "h2"}) {
      for (const char* key : {"starter_pid", "metadirectory.0.pid", "directory.0.pid"})
        all.insert(host + " " + pid(host, key));
    }
    return all;
  }
  [[nodiscard]] places ranks() const {
    places all;
    for (const std::string host : {"h1", "h2"}) {
      for (const std::string rank : {"0", "1"}) {
        all.insert("w." + host + " " + rank + " " + host + " " + pid(host, "rank.w." + host + "." + rank + ".pid"));
      }
    }
    return all;
  }

 private:
  void list(const std::string& in, const std::string& other) const {
    const auto told = hosts_.run(in, {MPIACQ_MPI2DD "/mpi2dd_directory", "--tell", pid(in, "metadirectory.0.pid"),
                                      "metadirectory," + other + ",/opt/dir," + pid(other, "metadirectory.0.pid")});
    INFO(told.err);
    CHECK(told.exit_code == 0);
  }
  const private_hosts& hosts_;
  live_process step_;
};

std::string place_of(const json& process) {
  return process.at("host").get<std::string>() + " " + std::to_string(process.at("pid").get<long>());
}

places visits_read(const json& graph) {
  places all;
  for (const json& visit : graph.at("visits")) {
    INFO(visit.dump());
    CHECK(visit.at("state") == "read");
    CHECK(visit.at("warnings").empty());
    all.insert(place_of(graph.at("processes").at(visit.at("process").get<std::size_t>())));
  }
  return all;
}

places ranks_seen(const json& graph) {
  places all;
  for (const json& process : graph.at("processes")) {
    if (process.at("rank").is_null()) continue;
    all.insert(process.at("world").get<std::string>() + " " + std::to_string(process.at("rank").get<long>()) + " " +
               place_of(process));
  }
  return all;
}

/// What a command says, without a complaint.
json looked(const private_hosts& hosts, const std::string& command, const std::string& host, const std::string& pid,
            const std::string& by) {
  INFO(command << " from " << host << " by " << by);
  const auto run = hosts.run(host, {MPIACQ_COMMAND, command, "--json", "--agents", by, pid});
  INFO(run.err << run.out);
  REQUIRE(run.exit_code == 0);
  CHECK(run.err == "");
  return json::parse(run.out);
}

}  // namespace

TEST_CASE("Remote graph: all processes of two hosts, from either of them, and with no option in a job of Slurm's") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  const two_jobs jobs(hosts);
  REQUIRE_FALSE(jobs.visited().contains("h2 0"));
  const auto look = [&](const std::string& host, const std::string& pid, const std::string& by) {
    INFO("from " << host << " by " << by);
    const json graph = looked(hosts, "graph", host, pid, by);
    places expected = jobs.visited();
    expected.insert(host + " " + pid);  // a rank, where that was named
    CHECK(visits_read(graph) == expected);
    CHECK(ranks_seen(graph) == jobs.ranks());
    CHECK(graph.at("host") == host);
  };
  look("h1", jobs.pid("h1", "starter_pid"), "automatic");
  look("h2", jobs.pid("h2", "rank.w.h2.1.pid"), "ssh");
  const auto alone = hosts.run("h1", {MPIACQ_COMMAND, "graph", "--agents", "none", jobs.pid("h1", "starter_pid")});
  CHECK_THAT(alone.out, ContainsSubstring("is on h2, and only processes of this node (h1) can be looked at"));
}

TEST_CASE("Remote graph: stacks are of the ranks that only tables of another host list, too") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  const two_jobs jobs(hosts);
  REQUIRE_FALSE(jobs.visited().contains("h2 0"));
  const auto taken = [](const json& stacks) {
    places all;
    for (const json& rank : stacks.at("ranks")) {
      INFO(rank.dump());
      CHECK(rank.at("outcome") == "taken");
      const json& world = stacks.at("worlds").at(rank.at("world").get<std::size_t>());
      all.insert(world.at("id").get<std::string>() + " " + std::to_string(rank.at("rank").get<long>()) + " " +
                 place_of(rank));
    }
    return all;
  };
  const json all = looked(hosts, "stacks", "h1", jobs.pid("h1", "starter_pid"), "automatic");
  CHECK(taken(all) == jobs.ranks());
  CHECK(all.at("problems").empty());
  // A rank whose starter is on its host, and the other job's ranks behind that.
  CHECK(taken(looked(hosts, "stacks", "h2", jobs.pid("h2", "rank.w.h2.1.pid"), "ssh")) == jobs.ranks());
  const json alone = looked(hosts, "stacks", "h1", jobs.pid("h1", "starter_pid"), "none");
  CHECK(alone.at("ranks").size() == 2);
  CHECK_THAT(alone.at("problems").dump(), ContainsSubstring("is on h2, and only processes of this node (h1)"));
  CHECK(comes_true([&] { return none_has_agents(hosts); }));
}
