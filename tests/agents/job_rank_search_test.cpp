// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Agents find the ranks of a job by its key. The hosts are names for this machine (fake_ssh.hpp).
#include "node/job_rank_search.hpp"

#include "elsewhere_ranks.hpp"
#include "environment_jobs.hpp"
#include "fake_ssh.hpp"
#include "live_process.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// A process with the variables of a rank of PALS.
live_process pals_rank(int rank, const std::string& job) {
  return live_process({"env", "PALS_RANKID=" + std::to_string(rank), "PALS_APID=" + job, "cat"});
}

/// The key of the job with this name; empty as long as it has not so many ranks.
std::string key_of(const std::string& job, std::size_t ranks) {
  const environment_jobs jobs;
  for (const environment_job& one : jobs.all()) {
    if (one.id == std::vector{job} && one.ranks_here() == ranks) return one.worlds.front().key;
  }
  return {};
}

}  // namespace

TEST_CASE("job's ranks: agents answer with the ranks of the key, and an unreachable host with the reason") {
  const std::string name = "job-" + std::to_string(::getpid());
  const auto first = pals_rank(3, name), second = pals_rank(5, name), other = pals_rank(3, name + "-other");
  std::string key;
  REQUIRE(comes_true([&] { return !(key = key_of(name, 2)).empty(); }));
  const fake_ssh ssh;
  agents_options options = ssh.agents();
  options.start_limit = std::chrono::seconds(15);
  const auto found = ranks_by_agents({"n1", "away", "-oProxyCommand=touch"}, {"no such key", key}, options);
  REQUIRE(found.hosts.size() == 3);
  INFO((found.hosts[0].why ? found.hosts[0].why->message : ""));
  CHECK_FALSE(found.hosts[0].why.has_value());
  REQUIRE(found.hosts[1].why.has_value());
  CHECK_THAT(found.hosts[1].why->message, ContainsSubstring("no route to away"));
  REQUIRE(found.hosts[2].why.has_value());
  CHECK_THAT(found.hosts[2].why->message, ContainsSubstring("is no name of a host"));
  REQUIRE(found.ranks.size() == 2);
  for (const elsewhere_rank& one : found.ranks) {
    CHECK(one.host == "n1");
    CHECK(one.world == 1);
    CHECK(one.pid == (one.rank == 3 ? first.pid() : second.pid()));
    CHECK(one.executable.ends_with("cat"));
  }
  CHECK(process_state(ssh.agent_of("n1")) == ' ');
}

TEST_CASE("job's ranks: keys are bytes of any value, and what is no key is none") {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes += static_cast<char>(byte);
  CHECK(agents::from_digits(agents::to_digits(bytes)) == bytes);
  CHECK(agents::from_digits("abc").empty());
  CHECK(agents::from_digits("zz").empty());
  const auto nothing = agents::answer_to(agents::ask_job_ranks{4, {"", "zz", "00"}});
  REQUIRE(nothing.of.size() == 1);
  CHECK(nothing.of.front().agent == 4);
  CHECK(nothing.of.front().ranks.empty());
}
