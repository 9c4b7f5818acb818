// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Agents that are killed or stopped, and peers that are not agents of this run: the other agents and the ranks go on.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <future>
#include <sstream>

#include <sys/eventfd.h>
#include <unistd.h>

#include "another_user.hpp"
#include "fake_front_end.hpp"
#include "fake_hosts.hpp"
#include "patience.hpp"
#include "private_munge.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// A child of this process that executes the program of this name from memory; 0: there is none.
pid_t child_called(pid_t parent, const std::string& name) {
  std::istringstream children(run_command({"pgrep", "-P", std::to_string(parent)}).out);
  for (pid_t child = 0; children >> child;) {
    const auto file = std::filesystem::path("/proc") / std::to_string(child) / "exe";
    std::error_code gone;
    if (std::filesystem::read_symlink(file, gone).string().find(name) != std::string::npos) return child;
  }
  return 0;
}

constexpr const char* host_program = "mqd-host";

rank_queue_options with_library_that_hangs() {
  rank_queue_options how;
  how.library = MPIACQ_QUEUE_LIBRARIES "/libqueue_hang.so";
  how.host.trust_library = true;
  return how;
}

std::vector<std::string> agent_line(const agent_order& order) {
  std::vector<std::string> line = {MPIACQ_AGENT};
  const auto rest = arguments_of(order);
  line.insert(line.end(), rest.begin(), rest.end());
  return line;
}

}  // namespace

TEST_CASE("agent killed: if it is killed before its greeting, the node is reported with the signal") {
  const fake_ssh ssh;
  const fake_host_job job({"n1", "killed"});
  const auto ranks = reach(job, ssh.options());
  CHECK_FALSE(ranks->nodes()[0].why.has_value());
  REQUIRE(ranks->nodes()[1].why.has_value());
  CHECK_THAT(ranks->nodes()[1].why->message,
             ContainsSubstring("no agent has come from killed") && ContainsSubstring("was ended by signal 9"));
  CHECK(ranks->stacks().taken.text() == "0");
}

TEST_CASE("agent killed: while a queue library hangs, the library's process ends as well and the rank continues") {
  const fake_ssh ssh;
  const fake_host_job job({"n1", "n2"});
  const auto ranks = reach(job, ssh.options());
  auto looking = std::async(std::launch::async, [&] { return ranks->queues(with_library_that_hangs()); });
  const pid_t agent = ssh.agent_of("n2");
  pid_t host = 0;
  CHECK(comes_true([&] { return (host = child_called(agent, host_program)) != 0; }));
  ::kill(agent, SIGKILL);
  CHECK(comes_true([&] { return process_state(host) == ' '; }));
  CHECK(comes_true([&] { return runs_freely(job.pid(1)); }));
  // The other agent does not wait for the library forever.
  const group_queues seen = looking.get();
  REQUIRE(seen.ranks.size() == 2);
  REQUIRE_FALSE(seen.ranks[1].report.has_value());
  CHECK_THAT(seen.ranks[1].report.error().message, ContainsSubstring("its agent has ended"));
}

TEST_CASE("agents: after finish_early, agents with hanging queue libraries release their ranks") {
  const fake_ssh ssh;
  const fake_host_job job({"n1", "n2"});
  auto options = ssh.options();
  const base::unique_fd stop{::eventfd(0, EFD_CLOEXEC)};
  options.agents->stop = stop.get();
  const auto ranks = reach(job, options);
  auto looking = std::async(std::launch::async, [&] { return ranks->queues(with_library_that_hangs()); });
  for (const char* node : {"n1", "n2"})
    CHECK(comes_true([&] { return child_called(ssh.agent_of(node), host_program) != 0; }));
  const std::uint64_t one = 1;
  REQUIRE(::write(stop.get(), &one, sizeof one) == sizeof one);
  // The agents have two seconds; the time for a library alone is much longer.
  REQUIRE(looking.wait_for(std::chrono::seconds(10)) == std::future_status::ready);
  const group_queues seen = looking.get();
  CHECK(seen.stopped);
  REQUIRE(seen.ranks.size() == 2);
  for (const rank_report& rank : seen.ranks) CHECK_FALSE(rank.report.has_value());
  for (const std::size_t rank : {0U, 1U}) CHECK(comes_true([&] { return runs_freely(job.pid(rank)); }));
  // The agents still run.
  std::uint64_t taken = 0;
  REQUIRE(::read(stop.get(), &taken, sizeof taken) == sizeof taken);
  CHECK(ranks->stacks().taken.text() == "0-1");
}

TEST_CASE("agents: the progress of a question is reported") {
  const fake_ssh ssh;
  const fake_host_job job({"n1", "n2", "n3"});
  const auto ranks = reach(job, ssh.options());
  rank_queue_options how;
  std::vector<std::size_t> told;
  how.progress = [&](std::size_t read, std::size_t all) {
    CHECK(all == 3);
    CHECK(read <= all);
    told.push_back(read);
  };
  const group_queues seen = ranks->queues(how);
  CHECK(seen.ranks.size() == 3);
  REQUIRE(!told.empty());
  CHECK(told.back() == 3);
}

TEST_CASE("agent killed: an agent that is killed before a release releases its ranks by its end") {
  const fake_ssh ssh;
  const fake_host_job job({"n1", "n2"});
  const auto ranks = reach(job, ssh.options());
  for (const rank_hold& rank : ranks->hold()) REQUIRE(rank.state == hold_state::held);
  const pid_t agent = ssh.agent_of("n2");
  ::kill(agent, SIGSTOP);
  auto releasing = std::async(std::launch::async, [&] { return ranks->release(); });
  CHECK(comes_true([&] { return runs_freely(job.pid(0)); }));
  CHECK(job.is_held(1));
  ::kill(agent, SIGKILL);
  CHECK(comes_true([&] { return runs_freely(job.pid(1)); }));
  CHECK(releasing.get().size() == 2);
}

TEST_CASE("agent stopped: it is reported, its children find another parent, and it counts again when it resumes") {
  const fake_ssh ssh;
  const fake_host_job job({"n0", "late1", "late2", "late3", "late4", "late5", "late6"});
  auto options = ssh.options();
  options.agents->fan_out = 2;
  // The agent that arrives first has children, and these have children.
  bool first_is_there = false;
  options.agents->progress = [&](const agents_progress& so_far) {
    if (so_far.arrived == 1 && !std::exchange(first_is_there, true)) ssh.let_late_ones_come(6);
  };
  const auto ranks = reach(job, options);
  REQUIRE(ranks->stacks().taken.text() == "0-6");
  std::string stopped, others;
  SECTION("an agent with children") {
    stopped = "n0";
    others = "1-6";
  }
  SECTION("any agent, wherever it is in the tree") {
    stopped = "late6";
    others = "0-5";
  }
  const pid_t agent = ssh.agent_of(stopped);
  ::kill(agent, SIGSTOP);
  const group_stacks without = ranks->stacks();
  CHECK(without.taken.text() == others);
  REQUIRE(without.refused.size() == 1);
  CHECK_THAT(without.refused[0].why.message, ContainsSubstring(stopped) && ContainsSubstring("is silent"));
  ::kill(agent, SIGCONT);
  // All agents answer again, also those with a new parent.
  CHECK(comes_true([&] { return ranks->stacks().taken.text() == "0-6"; }));
  CHECK(ranks->stacks().taken.text() == "0-6");
}

TEST_CASE("agent's end: an agent ends with its front end while a queue library hangs") {
  const fake_host_job job({"n1", "n2"});
  fake_front_end front;
  running_command agent(agent_line(front.order()));
  const auto peer = front.assign_one({{{}, process_id{job.pid(0)}, ""}});
  agents::ask_queues what;
  what.how.library = with_library_that_hangs().library;
  what.how.host.trust_library = true;
  REQUIRE(front.connections().send(peer, agents::ask{1, 600'000, what}) == agents::sending::done);
  pid_t host = 0;
  REQUIRE(comes_true([&] { return (host = child_called(agent.pid(), host_program)) != 0; }));
  const auto begin = clock::now();
  front.die();
  CHECK(agent.wait().exit_code == 0);
  CHECK(clock::now() - begin < soon);
  CHECK(comes_true([&] { return process_state(host) == ' '; }));
  CHECK(comes_true([&] { return runs_freely(job.pid(0)); }));
}

TEST_CASE("trust: another user's agent is refused and counted, and learns only that") {
  MPIACQ_NEEDS_ANOTHER_USER();
  const private_munge munge;
  if (!munge.why_not().empty()) MPIACQ_SKIP(munge.why_not());
  fake_front_end front(munge.socket());
  command_options nobody;
  nobody.as_nobody = true;
  running_command stranger(agent_line(front.order()), nobody);
  const bool dropped = until(front.connections(), nullptr, [&] {
    CHECK_FALSE(front.connections().receive().has_value());
    return front.connections().dropped().credentials == 1;
  });
  INFO(front.connections().last_refusal());
  CHECK(dropped);
  CHECK_THAT(front.connections().last_refusal(), ContainsSubstring("Unauthorized credential"));
  const auto end = stranger.wait();
  CHECK(end.exit_code == 125);
  CHECK_THAT(end.err, ContainsSubstring("its proof of identity was refused"));
}

TEST_CASE("trust: an agent refuses a front end with another key") {
  fake_front_end front, other;
  agent_order order = front.order();
  order.front_end_key = other.order().front_end_key;
  const auto agent = run_command(agent_line(order));
  CHECK(agent.exit_code == 125);
  CHECK_THAT(agent.err, ContainsSubstring("mpiacq-agent: "));
  CHECK_FALSE(front.connections().receive().has_value());
}
