// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What becomes of a hold, of a look at queues and of a terminal on hosts of the tests' own when an agent is killed, or
// Ctrl-C is pressed.
#include <csignal>
#include <filesystem>

#include "live_process.hpp"
#include "on_terminal.hpp"
#include "patience.hpp"
#include "remote_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;
using std::chrono::seconds;
using std::chrono::steady_clock;

namespace {

using lines = std::vector<std::string>;

/// The processes on a host in which a rank's queue library runs. They run a file that is in memory alone.
lines library_processes(const private_hosts& hosts, const std::string& host) {
  lines pids;
  constexpr auto find = "find /proc -maxdepth 2 -name exe -lname '*mqd-host*' 2>/dev/null | cut -d/ -f3";
  std::istringstream words(hosts.run(host, {"sh", "-c", find}).out);
  for (std::string pid; words >> pid;) pids.push_back(pid);
  return pids;
}

bool none_traced(const job_on_hosts& job, const std::vector<long>& ranks) {
  return std::none_of(ranks.begin(), ranks.end(), [&](long rank) { return job.is_traced(rank); });
}
bool all_traced(const job_on_hosts& job, const std::vector<long>& ranks) {
  return std::all_of(ranks.begin(), ranks.end(), [&](long rank) { return job.is_traced(rank); });
}

/// A command of mpiacq's that looks at queues on all four hosts with a library that takes three seconds for each call.
class look_without_end : public running_command {
 public:
  explicit look_without_end(const job_on_hosts& job)
      : running_command(job.mpiacq({"queues", "--json", "--trust-library", "--library",
                                    MPIACQ_QUEUE_LIBRARIES "/libqueue_dawdles.so"}),
                        with_patience()) {
    for (const std::string& host : private_hosts::names())
      REQUIRE(comes_true([&] { return !library_processes(job.hosts(), host).empty(); }));
  }
};

}  // namespace

TEST_CASE("Remote faults: an agent is killed while it holds ranks, which go on, and the others are let go when asked") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(hosts, srun_on_hosts());
  REQUIRE(job.places().at(2) == "h2");
  REQUIRE(job.places().at(3) == "h2");
  const std::vector<long> of_h2 = {2, 3}, others = {0, 1, 4, 5, 6, 7};
  live_process holder(job.about({MPIACQ_HOLD_RANKS, MPIACQ_AGENT}));
  const lines all_held = {"held 0", "held 1", "held 2", "held 3", "held 4", "held 5", "held 6", "held 7"};
  REQUIRE(holder.lines_until_ready() == all_held);
  CHECK(all_traced(job, of_h2));
  CHECK(all_traced(job, others));
  kill_agents(hosts, "h2");
  CHECK(comes_true([&] { return none_traced(job, of_h2); }));
  CHECK(all_traced(job, others));
  holder.tell('s');
  const lines seen = holder.lines_until_ready();
  REQUIRE(seen.size() == 2);
  CHECK(seen[0] == "taken 0-1,4-7");
  CHECK_THAT(seen[1], ContainsSubstring("refused 2-3: h2: its agent has ended"));
  CHECK(all_traced(job, others));
  holder.tell('r');
  static_cast<void>(holder.lines_until_ready());
  CHECK(comes_true([&] { return job.disturbed().empty(); }));
  CHECK(holder.end() == 0);
  check_left_alone(job);
}

TEST_CASE("Remote faults: an agent is killed while queues are read, then Ctrl-C ends the look, and all ranks go on") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(hosts, srun_on_hosts());
  look_without_end look(job);
  kill_agents(hosts, "h2");
  CHECK(comes_true([&] { return library_processes(hosts, "h2").empty(); }));
  CHECK(comes_true([&] { return none_traced(job, {2, 3}); }));
  const auto begin = steady_clock::now();
  interrupt_mpiacq(look);
  const auto run = look.wait();
  // Two seconds are what answers have; nobody has waited until the libraries' time was up.
  CHECK(steady_clock::now() - begin < soon);
  INFO(run.out << run.err);
  CHECK(run.exit_code == 128 + SIGINT);
  CHECK_THAT(run.err, ContainsSubstring("ended by SIGINT"));
  const json report = json::parse(run.out);
  CHECK(report.at("interrupted") == true);
  REQUIRE(report.at("ranks").size() == 8);
  for (const json& rank : report.at("ranks")) CHECK(rank.at("outcome") != "complete");
  for (const json& rank : rows_on(report.at("ranks"), "h2")) {
    CHECK(rank.at("outcome") == "failed");
    CHECK_THAT(rank.at("problems").dump(), ContainsSubstring("h2: its agent has ended"));
  }
  for (const std::string& host : private_hosts::names())
    CHECK(comes_true([&] { return library_processes(hosts, host).empty(); }));
  check_left_alone(job);
}

TEST_CASE("Remote faults: an agent is killed while a job is watched, and the report has the other ranks and says so") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(hosts, srun_on_hosts());
  const scratch_folder folder;
  const std::string reports = folder.path("reports");
  running_command watcher(job.mpiacq({"watch", "--timeout", "10", "--report", reports}), with_patience());
  for (const std::string host : {"h2", "h3", "h4"}) {
    REQUIRE(comes_true([&] { return !agents_on(hosts, host).empty(); }));
  }
  kill_agents(hosts, "h2");
  REQUIRE(comes_true([&] { return std::filesystem::exists(reports + "/report.html"); }));
  interrupt_mpiacq(watcher);
  const auto run = watcher.wait();
  INFO(run.err);
  CHECK(run.exit_code == 128 + SIGINT);
  const json report = json::parse(file_contents(reports + "/report.json"));
  CHECK(report.at("why") == "timeout");
  const json& ranks = report.at("stacks").at("ranks");
  REQUIRE(ranks.size() == 8);
  for (const std::string host : {"h1", "h3", "h4"}) {
    for (const json& rank : rows_on(ranks, host)) CHECK(rank.at("outcome") == "taken");
  }
  REQUIRE(rows_on(ranks, "h2").size() == 2);
  for (const json& rank : rows_on(ranks, "h2")) {
    CHECK(rank.at("outcome") == "failed");
    // An agent that is killed in its first moment has not come yet.
    CHECK_THAT(rank.at("problems").dump(),
               ContainsSubstring("h2: its agent has ended") || ContainsSubstring("no agent has come from h2"));
  }
  check_left_alone(job);
}

TEST_CASE("Remote faults: a terminal shows which agents have come, and nothing of that when all are there") {
  MPIACQ_PRIVATE_HOSTS_OR_SKIP(hosts);
  job_on_hosts job(hosts, srun_on_hosts());
  const std::string shown = shown_on_terminal(job.mpiacq({"stacks"}), true);
  INFO(shown);
  const std::string line_begin = "\r\x1b[K";
  CHECK_THAT(shown, ContainsSubstring(line_begin + "mpiacq: agents of 0 of 3 nodes have come"));
  const std::size_t last = shown.rfind("nodes have come");
  REQUIRE(last != std::string::npos);
  const std::size_t report = shown.find("of 8 ranks on 4 nodes");
  REQUIRE(report != std::string::npos);
  CHECK(last < report);
  CHECK(shown.substr(last, std::string("nodes have come" + line_begin).size()) == "nodes have come" + line_begin);
  check_left_alone(job);
}
