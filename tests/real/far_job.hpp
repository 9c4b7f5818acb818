// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A job on the tests' own hosts whose starter is on h1: who it is there, what its ranks are doing, and which agents
// look at them.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "far_hosts.hpp"

namespace mpiacq::test {

/// Says the starter's pid, as its host numbers it, and becomes the starter.
inline std::vector<std::string> with_pid_said(const far_hosts& hosts, const std::vector<std::string>& starter) {
  std::vector<std::string> line = {"sh", "-c", "echo starter $$; exec \"$0\" \"$@\""};
  line.insert(line.end(), starter.begin(), starter.end());
  return hosts.on("h1", line);
}

inline std::string starter_of(const running_job& job) {
  const auto at = job.out().find("starter ");
  return at == std::string::npos ? "" : std::to_string(std::stol(job.out().substr(at + 8)));
}

/// The ranks that are stopped or traced, as their own hosts' kernels say; empty where none is, or is gone.
inline std::string disturbed(const far_hosts& hosts, const running_job& job) {
  std::string found;
  const auto places = hosts_printed(job.out());
  for (const auto& [rank, pid] : job.ranks()) {
    const auto status =
        hosts.run(places.at(rank), {"grep", "-E", "^(State|TracerPid):", "/proc/" + std::to_string(pid) + "/status"});
    const bool quiet = status.out.find("\t0\n") != std::string::npos &&
                       status.out.find("stopped") == std::string::npos &&
                       status.out.find("tracing") == std::string::npos;
    if (!quiet) found += "rank " + std::to_string(rank) + ": " + status.out;
  }
  return found;
}

/// The agents that run on a host, by the file that they were started from.
inline std::vector<std::string> agents_on(const far_hosts& hosts, const std::string& host) {
  std::vector<std::string> pids;
  std::istringstream words(hosts.run(host, {"pgrep", "-f", "^" MPIACQ_AGENT}).out);
  for (std::string pid; words >> pid;) pids.push_back(pid);
  return pids;
}

inline bool none_has_agents(const far_hosts& hosts) {
  return std::all_of(far_hosts::names().begin(), far_hosts::names().end(),
                     [&](const std::string& host) { return agents_on(hosts, host).empty(); });
}

inline command_options in_a_minute() {
  command_options options;
  options.limit = std::chrono::seconds(60);
  return options;
}

/// No agent is left on any host, no rank was touched, and each of the eight comes to its own end, and so does the
/// starter.
inline void check_left_alone(const far_hosts& hosts, running_job& job, int status = 0) {
  CHECK(comes_true([&] { return none_has_agents(hosts); }));
  CHECK(comes_true([&] { return disturbed(hosts, job).empty(); }));
  const job_end end = job.finish();
  CHECK_FALSE(end.timed_out);
  INFO(end.out);
  CHECK(end.as_shell() == status);
  CHECK(end.all_ranks_ended(8));
}

}  // namespace mpiacq::test
