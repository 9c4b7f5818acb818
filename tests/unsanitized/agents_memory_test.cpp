// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The memory of agents whose ranks have hostile queue libraries.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "fake_hosts.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

TEST_CASE(
    "the memory of agents whose ranks report without end is limited, and the front end's report names these ranks") {
  const fake_ssh ssh;
  std::vector<std::string> hosts(13, "n1");
  hosts.back() = "n2";
  const fake_host_job job(hosts, "endless_groups");
  const auto ranks = reach(job, ssh.options());
  rank_queue_options how;
  how.host.trust_library = true;                        // fixtures may be below /tmp
  how.host.limits.call_time = std::chrono::minutes(1);  // the library's loops are long on a busy machine
  how.host.limits.process_time = std::chrono::minutes(3);
  const group_queues queues = ranks->queues(how);
  // 12 reports with 16 MB of groups each would need 192 MB, and as much again while they become a message.
  const std::string peak = status_of(ssh.agent_of("n1"), "VmHWM");
  CAPTURE(peak);
  CHECK(std::stoul(peak) < 300'000);
  REQUIRE(queues.ranks.size() == hosts.size());
  for (const rank_report& rank : queues.ranks) {
    CAPTURE(rank.entry.value());
    INFO((rank.report ? "" : rank.report.error().message));
    REQUIRE(rank.report.has_value());
    CHECK_FALSE(rank.report->communicators.empty());
    std::string problems;
    for (const error& problem : rank.report->problems) problems += problem.message + "\n";
    CHECK_THAT(problems, ContainsSubstring("this rank's queue library reported more than 24 MB"));
  }
  const std::size_t shortened =
      static_cast<std::size_t>(std::count_if(queues.ranks.begin(), queues.ranks.end(), [](const rank_report& rank) {
        return std::any_of(rank.report->problems.begin(), rank.report->problems.end(), [](const error& problem) {
          return problem.message.find("than there is room for") != std::string::npos;
        });
      }));
  CHECK(shortened >= 8);
}
