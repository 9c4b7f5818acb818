// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The order of the ways to start agents, and how many ssh commands run at a time.
#include <algorithm>
#include <iterator>
#include <sstream>

#include "fake_hosts.hpp"
#include "start/agent_starters.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// A fake srun: runs its program once for each node of its list, like a step.
constexpr auto step = R"(for word; do case $word in --nodelist=*) nodes=${word#*=} ;; esac; done
while [ "${1#--}" != "$1" ]; do shift; done
for node in $(echo "$nodes" | tr , ' '); do SLURMD_NODENAME=$node "$@" & done
wait
)";
constexpr auto ends_at_once = "echo end >> $folder/log\n";
constexpr auto no_step = "echo 'srun: error: no step for you' >&2\nexit 1\n";

/// All three ways: a running starter without MPIR's variables, a Slurm job id, and ssh.
rank_options all_ways(const fake_ssh& ssh, const live_process& starter) {
  rank_options options = ssh.options();
  options.agents->start = agent_start::automatic;
  options.agents->starter = starter.pid();
  options.agents->job_id = "7";
  return options;
}

/// Whether the text contains these parts in this order.
bool in_order(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    at = text.find(part, at);
    if (at == std::string::npos) return false;
    at += part.size();
  }
  return true;
}

std::vector<std::string> hosts_called(std::size_t count) {
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i < count; ++i) hosts.push_back("late" + std::to_string(i));
  return hosts;
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::istringstream words(text);
  return static_cast<std::size_t>(
      std::count(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>(), word));
}

/// The most commands that ran at once: each writes a word when it begins and when it ends.
std::size_t most_at_once(const std::string& log) {
  std::istringstream words(log);
  std::size_t now = 0, most = 0;
  for (std::string word; words >> word;) {
    if (word == "begin") most = std::max(most, ++now);
    if (word == "end") --now;
  }
  return most;
}

constexpr auto nobody = [](const std::string&) { return false; };

}  // namespace

TEST_CASE("agents' ways: the starter, then Slurm, then ssh are tried, and an unreached node has all reasons") {
  const fake_ssh ssh;
  ssh.add("srun", no_step);
  const fake_host_job job({"away"});
  const live_process starter({"cat"});
  const auto ranks = reach(job, all_ways(ssh, starter));
  REQUIRE(ranks->nodes()[0].why.has_value());
  const std::string why = ranks->nodes()[0].why->message;
  INFO(why);
  // The last way that was tried comes first.
  CHECK(in_order(why, {"no route to away", "before that", "srun ended with status 1: srun: error: no step for you",
                       "before that", "asking the starter to launch agents"}));
  CHECK(ssh.called() == "srun\nssh\n");
}

TEST_CASE("agents' ways: if Slurm starts agents, ssh is not used") {
  const fake_ssh ssh;
  ssh.add("srun", step);
  const fake_host_job job({"n1", "n2"});
  const live_process starter({"cat"});
  const auto ranks = reach(job, all_ways(ssh, starter));
  for (const job_node& node : ranks->nodes()) {
    INFO((node.why ? node.why->message : ""));
    CHECK_FALSE(node.why.has_value());
  }
  CHECK(ssh.called() == "srun\n");
  CHECK(ranks->stacks().taken.text() == "0-1");
}

TEST_CASE("agents' ways: ssh reaches a node that the starter and Slurm do not, and the node has no problem") {
  const fake_ssh ssh;
  ssh.add("srun", no_step);
  const fake_host_job job({"n1", "away"});
  const live_process starter({"cat"});
  const auto ranks = reach(job, all_ways(ssh, starter));
  CHECK_FALSE(ranks->nodes()[0].why.has_value());
  REQUIRE(ranks->nodes()[1].why.has_value());
  CHECK_THAT(ranks->nodes()[1].why->message, ContainsSubstring("no route to away") && ContainsSubstring("no step"));
  CHECK(ranks->stacks().taken.text() == "0");
}

TEST_CASE("agents' ways: at most 32 ssh commands run at a time, and the next one starts when one ends") {
  constexpr std::size_t hosts = 70;
  const fake_ssh ssh;
  ssh.add("agent", ends_at_once);
  agents::agent_starters starters;
  REQUIRE(starters.by_ssh(hosts_called(hosts), ssh.path("agent"), {}).has_value());
  const auto runs = [&] { return starters.has_pending(nobody); };
  // The first 32 commands wait until the test lets them go on.
  REQUIRE(comes_true([&] { return runs() && count_of(ssh.log(), "begin") == agents::agent_starters::most_at_once; }));
  CHECK_THAT(starters.give_up("late69"), ContainsSubstring("its turn has not come: 32"));
  ssh.let_late_ones_come(hosts - 1);
  CHECK(comes_true([&] { return !runs(); }));
  CHECK(count_of(ssh.log(), "begin") == hosts - 1);
  CHECK(count_of(ssh.log(), "end") == hosts - 1);
  CHECK(most_at_once(ssh.log()) == agents::agent_starters::most_at_once);
}

TEST_CASE("agents' ways: an ssh command whose agent has arrived makes room for the next one") {
  constexpr std::size_t hosts = 70;
  const fake_ssh ssh;
  ssh.add("agent", ends_at_once);
  agents::agent_starters starters;
  REQUIRE(starters.by_ssh(hosts_called(hosts), ssh.path("agent"), {}).has_value());
  std::size_t come = 0;
  const auto has_come = [&](const std::string& host) { return std::stoul(host.substr(4)) < come; };
  for (const std::size_t begun : {32U, 64U, 70U}) {
    CHECK(comes_true([&] {
      static_cast<void>(starters.has_pending(has_come));
      return count_of(ssh.log(), "begin") >= begun;
    }));
    CHECK(count_of(ssh.log(), "begin") == begun);
    come = begun;
  }
  ssh.let_late_ones_come(hosts);
  CHECK(comes_true([&] {
    static_cast<void>(starters.has_pending(has_come));
    return count_of(ssh.log(), "end") == hosts;
  }));
}
