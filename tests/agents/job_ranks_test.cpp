// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The ranks of several hosts as one object. The hosts are names for this machine (fake_ssh.hpp).
#include <algorithm>
#include <csignal>

#include "entries.hpp"
#include "fake_hosts.hpp"
#include "patience.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

TEST_CASE("job ranks: the ranks of two hosts are held, examined and released together") {
  const fake_ssh ssh;
  const fake_host_job job({"n1", "n2", "n1", "n2"});
  auto options = ssh.options();
  std::size_t secrets = 0;
  options.agents->progress = [&](const agents_progress&) { secrets = std::max(secrets, ssh.secrets()); };
  auto ranks = reach(job, options);
  CHECK(secrets == 1);
  CHECK(ssh.secrets() == 0);
  REQUIRE(ranks->nodes().size() == 2);
  CHECK(ranks->nodes()[0].host == "n1");
  CHECK(ranks->nodes()[0].ranks.text() == "0,2");
  for (const job_node& node : ranks->nodes()) {
    INFO((node.why ? node.why->message : ""));
    CHECK_FALSE(node.why.has_value());
  }
  const auto held = ranks->hold();
  REQUIRE(held.size() == 4);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    INFO((held[rank].why ? held[rank].why->message : ""));
    CHECK(held[rank].state == hold_state::held);
    CHECK(job.is_held(rank));
  }
  const group_stacks stacks = ranks->stacks();
  CHECK(stacks.taken.text() == "0-3");
  for (const refused_ranks& refused : stacks.refused) UNSCOPED_INFO(refused.why.message);
  CHECK(stacks.refused.empty());
  CHECK(stacks.tree[call_tree::root].ranks.text() == "0-3");
  for (const auto& outcome : ranks->release()) CHECK(outcome.has_value());
  for (std::size_t rank = 0; rank < 4; ++rank) CHECK(runs_freely(job.pid(rank)));

  rank_queue_options how;
  how.host.trust_library = true;  // fixtures lie below /tmp
  const group_queues queues = ranks->queues(how);
  REQUIRE(queues.ranks.size() == 4);
  const queue_waits waits = find_waits(queues.ranks);
  REQUIRE(waits.deadlocks.size() == 1);
  CHECK(waits.deadlocks[0].ranks == entries({0, 1, 2, 3}));

  const pid_t agent = ssh.agent_of("n2");
  CHECK(process_state(agent) != ' ');
  ranks.reset();
  CHECK(process_state(agent) == ' ');
}

TEST_CASE("job ranks: a host that cannot be reached is reported with ssh's message, and the others are examined") {
  const fake_ssh ssh;
  const fake_host_job job({"n1", "away", "-oProxyCommand=touch", "n2"});
  auto options = ssh.options();
  options.agents->start_limit = std::chrono::seconds(15);
  const auto ranks = reach(job, options);
  REQUIRE(ranks->nodes().size() == 4);
  CHECK_FALSE(ranks->nodes()[0].why.has_value());
  REQUIRE(ranks->nodes()[1].why.has_value());
  CHECK_THAT(ranks->nodes()[1].why->message,
             ContainsSubstring("no agent has come from away") && ContainsSubstring("no route to away"));
  REQUIRE(ranks->nodes()[2].why.has_value());
  CHECK_THAT(ranks->nodes()[2].why->message, ContainsSubstring("is no name of a host"));
  const group_stacks stacks = ranks->stacks();
  CHECK(stacks.taken.text() == "0,3");
  REQUIRE(stacks.refused.size() == 2);
  CHECK(stacks.refused[0].ranks.text() == "1");
  CHECK_THAT(stacks.refused[0].why.message, ContainsSubstring("no route to away"));
  const auto held = ranks->hold();
  CHECK(held[0].state == hold_state::held);
  CHECK(held[1].state == hold_state::failed);
  CHECK(held[3].state == hold_state::held);
}

TEST_CASE("job ranks: the wait for an agent that does not arrive ends with the start limit") {
  const fake_ssh ssh;
  const fake_host_job job({"silent", "n1"});
  auto options = ssh.options();
  options.agents->start_limit = std::chrono::seconds(8);
  const auto begin = clock::now();
  const auto ranks = reach(job, options);
  CHECK(clock::now() - begin < soon);
  REQUIRE(ranks->nodes()[0].why.has_value());
  CHECK_THAT(ranks->nodes()[0].why->message, ContainsSubstring("no agent has come from silent within 8"));
  CHECK(ranks->stacks().taken.text() == "1");
}

TEST_CASE("job ranks: if an agent is killed, its ranks continue and its node is reported") {
  const fake_ssh ssh;
  const fake_host_job job({"n1", "n2"});
  const auto ranks = reach(job, ssh.options());
  for (const rank_hold& rank : ranks->hold()) REQUIRE(rank.state == hold_state::held);
  ::kill(ssh.agent_of("n2"), SIGKILL);
  // The agent's tracing process releases them.
  CHECK(comes_true([&] { return runs_freely(job.pid(1)); }));
  CHECK(job.is_held(0));
  const group_stacks stacks = ranks->stacks();
  CHECK(stacks.taken.text() == "0");
  REQUIRE(stacks.refused.size() == 1);
  CHECK(stacks.refused[0].ranks.text() == "1");
  CHECK_THAT(stacks.refused[0].why.message, ContainsSubstring("n2") && ContainsSubstring("its agent has ended"));
}

TEST_CASE("job ranks: if an inner agent is killed, its children find another parent") {
  const fake_ssh ssh;
  const fake_host_job job({"n0", "n1", "n2", "n3", "n4", "n5"});
  auto options = ssh.options();
  options.agents->fan_out = 2;
  const auto ranks = reach(job, options);
  REQUIRE(ranks->stacks().taken.text() == "0-5");
  // Six agents with fan-out 2: the first two that arrive have two children each. The test does not know which these
  // are, so it kills all in turn but the last two, of which at least one is a leaf.
  ::kill(ssh.agent_of("n0"), SIGKILL);
  CHECK(ranks->stacks().taken.text() == "1-5");
  ::kill(ssh.agent_of("n1"), SIGKILL);
  CHECK(ranks->stacks().taken.text() == "2-5");
  ::kill(ssh.agent_of("n2"), SIGKILL);
  const group_stacks stacks = ranks->stacks();
  CHECK(stacks.taken.text() == "3-5");
  CHECK(stacks.refused.size() == 3);
}

TEST_CASE("job ranks: if no agent can be started, that is the reason of all remote nodes and of no local rank") {
  const fake_host_job job({"n1", "localhost", "n2"});
  rank_options options;
  std::string expected;
  SECTION("no file of the agent") {
    options.agents->start = agent_start::ssh;
    options.agents->program = "/nowhere/mpiacq-agent";
    expected = "/nowhere/mpiacq-agent";
  }
  SECTION("no id of a Slurm job") {
    options.agents->start = agent_start::slurm;
    options.agents->program = MPIACQ_AGENT;
    expected = "the job does not say its id";
  }
  const auto ranks = reach(job, options);
  const group_stacks stacks = ranks->stacks();
  CHECK(stacks.taken.text() == "1");
  REQUIRE(stacks.refused.size() == 1);
  CHECK(stacks.refused[0].ranks.text() == "0,2");
  CHECK_THAT(stacks.refused[0].why.message, ContainsSubstring(expected));
}

TEST_CASE("job ranks: without a way to start agents, remote ranks have that reason") {
  const fake_host_job job({"n1", "localhost"});
  rank_options options;
  options.agents->start = agent_start::none;
  const auto ranks = reach(job, options);
  const group_stacks stacks = ranks->stacks();
  CHECK(stacks.taken.text() == "1");
  REQUIRE(stacks.refused.size() == 1);
  CHECK_THAT(stacks.refused[0].why.message, ContainsSubstring("no agent was to be started"));
}

TEST_CASE("job ranks: agents follow the limits for queues, and options that cannot be sent are refused") {
  const fake_ssh ssh;
  const fake_host_job job({"n1", "n2"}, "endless_operations");
  const auto ranks = reach(job, ssh.options());
  rank_queue_options how;
  how.host.trust_library = true;  // fixtures lie below /tmp
  how.host.limits.operations = 17;
  const group_queues queues = ranks->queues(how);
  REQUIRE(queues.ranks.size() == 2);
  for (const rank_report& rank : queues.ranks) {
    REQUIRE(rank.report.has_value());
    CHECK(rank.report->communicators.at(0).of(queue_class::sends).operations.size() == 17);
  }
  how.host.isolation = queue_isolation::in_process;
  for (const rank_report& rank : ranks->queues(how).ranks) {
    REQUIRE_FALSE(rank.report.has_value());
    CHECK(rank.report.error().code == error_code::unsupported);
    CHECK_THAT(rank.report.error().message, ContainsSubstring("in a process of its own only"));
  }
}
