// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A job on the tests' own hosts: what its ranks are doing there, and which agents look at them.
#pragma once

#include <algorithm>
#include <csignal>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "patience.hpp"
#include "private_hosts.hpp"
#include "real_job.hpp"

namespace mpiacq::test {

/// A job whose starter is on h1.
class job_on_hosts {
 public:
  /// `command` and `ranks` as running_job's.
  job_on_hosts(const private_hosts& hosts, const std::vector<std::string>& command, std::size_t ranks = 8)
      : hosts_(hosts), job_(with_pid_said(hosts, command), ranks), places_(hosts_printed(job_.out())) {
    INFO(job_.out());
    REQUIRE(job_.ranks().size() == ranks);
  }

  [[nodiscard]] const private_hosts& hosts() const { return hosts_; }
  /// As their hosts number them.
  [[nodiscard]] const std::map<long, long>& ranks() const { return job_.ranks(); }
  /// Where each rank said that it is.
  [[nodiscard]] const std::map<long, std::string>& places() const { return places_; }
  /// The starter, as h1 numbers it.
  [[nodiscard]] std::string starter() const {
    const auto at = job_.out().find("starter ");
    return at == std::string::npos ? "" : std::to_string(std::stol(job_.out().substr(at + 8)));
  }
  /// A command on h1, about this job.
  [[nodiscard]] std::vector<std::string> about(std::vector<std::string> line) const {
    line.push_back(starter());
    return hosts_.on("h1", line);
  }
  /// A command of mpiacq's.
  [[nodiscard]] std::vector<std::string> mpiacq(std::vector<std::string> line) const {
    line.insert(line.begin(), MPIACQ_COMMAND);
    return about(std::move(line));
  }

  /// Traced by somebody, as its host's kernel says.
  [[nodiscard]] bool is_traced(long rank) const {
    const std::string status = status_of_rank(rank);
    return status.find("TracerPid") != std::string::npos && status.find("\t0\n") == std::string::npos;
  }
  /// Stopped by a signal, without a tracer that has stopped it.
  [[nodiscard]] bool is_stopped(long rank) const {
    return status_of_rank(rank).find("T (stopped)") != std::string::npos;
  }
  /// Stopped by its tracer.
  [[nodiscard]] bool is_held(long rank) const { return status_of_rank(rank).find("tracing stop") != std::string::npos; }
  /// The ranks that are stopped or traced; empty where none is. One that is gone counts.
  [[nodiscard]] std::string disturbed() const {
    std::string found;
    for (const auto& [rank, pid] : ranks()) {
      const std::string status = status_of_rank(rank);
      const bool quiet = status.find("\t0\n") != std::string::npos && status.find("stopped") == std::string::npos &&
                         status.find("tracing") == std::string::npos;
      if (!quiet) found += "rank " + std::to_string(rank) + ": " + status;
    }
    return found;
  }
  [[nodiscard]] job_end finish() { return job_.finish(); }
  /// Waits for its end without letting the ranks end.
  [[nodiscard]] job_end wait() { return job_.wait(); }

 private:
  /// Says the starter's pid, as its host numbers it, and becomes the starter.
  [[nodiscard]] static std::vector<std::string> with_pid_said(const private_hosts& hosts,
                                                              const std::vector<std::string>& starter) {
    std::vector<std::string> line = {"sh", "-c", "echo starter $$; exec \"$0\" \"$@\""};
    line.insert(line.end(), starter.begin(), starter.end());
    return hosts.on("h1", line);
  }
  [[nodiscard]] std::string status_of_rank(long rank) const {
    const std::string file = "/proc/" + std::to_string(ranks().at(rank)) + "/status";
    return hosts_.run(places_.at(rank), {"grep", "-E", "^(State|TracerPid):", file}).out;
  }

  const private_hosts& hosts_;
  running_job job_;
  std::map<long, std::string> places_;
};

/// Slurm's starter with eight ranks, two on each host, in order.
inline std::vector<std::string> srun_on_hosts() {
  return {"srun", "-N4", "-n8", rank_program("plain_pids")};
}

/// The agents that run on a host, by the file that they were started from.
inline std::vector<std::string> agents_on(const private_hosts& hosts, const std::string& host) {
  std::vector<std::string> pids;
  std::istringstream words(hosts.run(host, {"pgrep", "-f", "^" MPIACQ_AGENT}).out);
  for (std::string pid; words >> pid;) pids.push_back(pid);
  return pids;
}

inline void kill_agents(const private_hosts& hosts, const std::string& host) {
  for (const std::string& pid : agents_on(hosts, host)) CHECK(hosts.run(host, {"kill", "-KILL", pid}).exit_code == 0);
}

inline bool none_has_agents(const private_hosts& hosts) {
  return std::all_of(private_hosts::names().begin(), private_hosts::names().end(),
                     [&](const std::string& host) { return agents_on(hosts, host).empty(); });
}

inline command_options with_patience() {
  command_options options;
  options.limit = patience;
  return options;
}

/// Sends SIGINT to mpiacq alone, as a terminal does: mpiacq is the child of the program that has entered the host for
/// it.
inline void interrupt_mpiacq(const running_command& entered) {
  const auto child = run_command({"pgrep", "-P", std::to_string(entered.pid())});
  REQUIRE(child.exit_code == 0);
  ::kill(std::stoi(child.out), SIGINT);
}

/// No agent is left on any host, no rank was touched, and each comes to its own end, and so does the starter.
inline void check_left_alone(job_on_hosts& job, int status = 0) {
  CHECK(comes_true([&] { return none_has_agents(job.hosts()); }));
  CHECK(comes_true([&] { return job.disturbed().empty(); }));
  const job_end end = job.finish();
  CHECK_FALSE(end.timed_out);
  INFO(end.out);
  CHECK(end.as_shell() == status);
  CHECK(end.all_ranks_ended(job.ranks().size()));
}

/// One tree has the eight ranks of four hosts, whose agents come in the way that `agents` names.
inline void check_one_tree(job_on_hosts& job, const std::string& agents) {
  const auto run = run_command(job.mpiacq({"stacks", "--json", "--agents", agents}), with_patience());
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(run.err == "");
  const auto report = nlohmann::json::parse(run.out);
  CHECK(pids_reported({{"processes", report.at("ranks")}}) == job.ranks());
  for (const auto& rank : report.at("ranks")) {
    CHECK(rank.at("outcome") == "taken");
    CHECK(rank.at("host") == job.places().at(rank.at("rank").get<long>()));
  }
  CHECK(report.at("tree").at(0).at("ranks") == "0-7");
}

/// The ranks of a table of a report's that are on this host.
inline std::vector<nlohmann::json> rows_on(const nlohmann::json& ranks, const std::string& host) {
  std::vector<nlohmann::json> rows;
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(rows),
               [&](const nlohmann::json& rank) { return rank.at("host") == host; });
  return rows;
}

}  // namespace mpiacq::test
