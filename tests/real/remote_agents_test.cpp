// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Agents on hosts whose names, addresses and pids are their own, and what becomes of them, of the look and of the ranks
// when a host is cut off, an agent or the front end is killed.
#include <csignal>
#include <thread>

#include "openmpi.hpp"
#include "patience.hpp"
#include "remote_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;
using std::chrono::seconds;
using std::chrono::steady_clock;

namespace {

/// Each has been told its ranks, for it has started a process to hold them.
bool all_are_at_work(const private_hosts& hosts) {
  const auto works = [&](const char* host) {
    const auto agents = agents_on(hosts, host);
    return !agents.empty() && hosts.run(host, {"pgrep", "-P", agents.front()}).exit_code == 0;
  };
  return works("h2") && works("h3") && works("h4");
}

/// A look at all ranks that takes its time, which has begun when this is there.
class long_look : public running_command {
 public:
  long_look(const job_on_hosts& job, const std::string& samples)
      : running_command(job.mpiacq({"stacks", "--json", "--samples", samples}), with_patience()) {
    REQUIRE(comes_true([&] { return all_are_at_work(job.hosts()); }));
  }
  /// What it reports.
  [[nodiscard]] json report() {
    const auto run = wait();
    INFO(run.err);
    REQUIRE_FALSE(run.timed_out);
    return json::parse(run.out);
  }
};

/// How often each rank was seen.
std::map<long, long> samples_of(const json& report) {
  std::map<long, long> samples;
  for (const json& rank : report.at("ranks")) samples[rank.at("rank").get<long>()] = rank.at("samples").get<long>();
  return samples;
}

}  // namespace

TEST_CASE("Remote agents: one tree over the ranks of four hosts") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(hosts, srun_on_hosts());
  const auto by = GENERATE("automatic", "ssh");
  INFO(by);
  check_one_tree(job, by);
  check_left_alone(job);
}

TEST_CASE("Remote agents: a person sees which ranks are on which host") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(hosts, srun_on_hosts());
  std::string nodes;
  for (const auto& [rank, host] : job.places()) {
    if (rank % 2 == 0)
      nodes += (nodes.empty() ? " " : ", ") + host + " " + std::to_string(rank) + "-" + std::to_string(rank + 1);
  }
  for (const char* command : {"stacks", "queues"}) {
    const auto run = run_command(job.mpiacq({command}), with_patience());
    INFO(run.out << run.err);
    CHECK_THAT(run.out, ContainsSubstring("of 8 ranks on 4 nodes"));
    CHECK_THAT(run.out, ContainsSubstring("\n  nodes:" + nodes + "\n"));
  }
  check_left_alone(job);
}

TEST_CASE("Remote agents: a host that is cut off for 3 s costs its own ranks a few samples") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(hosts, srun_on_hosts());
  long_look look(job, "80");
  REQUIRE(hosts.cut("h3"));
  // The fault itself is a time.
  std::this_thread::sleep_for(seconds(3));
  REQUIRE(hosts.mend("h3"));
  for (const auto& [rank, samples] : samples_of(look.report())) {
    INFO("rank " << rank);
    if (job.places().at(rank) == "h3") CHECK(samples > 0);
    if (job.places().at(rank) != "h3") CHECK(samples == 80);
  }
  check_left_alone(job);
}

TEST_CASE("Remote agents: a host that is cut off for good is named, and its agent ends by itself") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(hosts, srun_on_hosts());
  long_look look(job, "80");
  REQUIRE(hosts.cut("h3"));
  CHECK(comes_true([&] { return agents_on(hosts, "h3").empty(); }));
  const auto run = look.wait();
  CHECK(hosts.mend("h3"));
  INFO(run.err);
  REQUIRE_FALSE(run.timed_out);
  const json report = json::parse(run.out);
  for (const json& rank : report.at("ranks")) {
    INFO(rank.dump());
    if (rank.at("host") == "h3") CHECK_THAT(rank.at("problems").dump(), ContainsSubstring("h3"));
    if (rank.at("host") != "h3") CHECK(rank.at("samples") == 80);
  }
  check_left_alone(job);
}

TEST_CASE("Remote agents: an agent that is killed costs its own ranks their samples, and they run on") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(hosts, srun_on_hosts());
  long_look look(job, "80");
  for (const std::string& pid : agents_on(hosts, "h2")) CHECK(hosts.run("h2", {"kill", "-KILL", pid}).exit_code == 0);
  const json report = look.report();
  for (const json& rank : report.at("ranks")) {
    INFO(rank.dump());
    if (rank.at("host") == "h2") CHECK(rank.at("samples") < 80);
    if (rank.at("host") == "h2") CHECK_THAT(rank.at("problems").dump(), ContainsSubstring("h2"));
    if (rank.at("host") != "h2") CHECK(rank.at("samples") == 80);
    if (rank.at("host") != "h2") CHECK(rank.at("problems").empty());
  }
  check_left_alone(job);
}

TEST_CASE("Remote agents: all are gone soon when mpiacq is killed, and the ranks go on") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(hosts, srun_on_hosts());
  // Killing what entered the host kills the command there.
  long_look look(job, "1000000");
  ::kill(look.pid(), SIGKILL);
  const auto killed = steady_clock::now();
  CHECK(comes_true([&] { return none_has_agents(hosts); }));
  CHECK(steady_clock::now() - killed < soon);
  check_left_alone(job);
}
