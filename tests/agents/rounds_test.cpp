// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Looks during each of which an inner agent is killed: every look ends, and no process or descriptor is left.
#include <algorithm>
#include <csignal>
#include <random>
#include <sstream>
#include <thread>

#include "fake_nodes.hpp"
#include "open_descriptors.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::agents;

namespace {

constexpr std::size_t tree_count = 2;
/// Agents 1 to 5 have two children each: these are the first five that start.
constexpr std::size_t node_count = 12, inner_count = 5;
constexpr std::uint32_t fan_out = 2;

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> all;
  std::istringstream words(run_command({"pgrep", "-P", std::to_string(process)}).out);
  for (pid_t pid = 0; words >> pid;) all.push_back(pid);
  return all;
}

/// A tree of agent programs, each with one rank. Agent n runs on node n - 1.
class tree_of_programs {
 public:
  tree_of_programs() : nodes_(std::vector<std::vector<std::string>>(node_count, {"in:MPI_Recv"}), 1, fan_out) {
    for (std::size_t i = 0; i < node_count; ++i) {
      std::vector<std::string> line = {MPIACQ_AGENT};
      for (const std::string& word : arguments_of(nodes_.order_for("n" + std::to_string(i)))) line.push_back(word);
      agents_.push_back(std::make_unique<running_command>(line));
      // Parents must arrive before their children.
      if (i < inner_count) REQUIRE(nodes_.wait_for_agents(i + 1));
    }
    REQUIRE(nodes_.wait_for_agents(node_count));
    // Now all agents hold their parent's welcome and have examined their ranks.
    REQUIRE(nodes_.ask(ask_stacks{}).missing.empty());
    for (const auto& agent : agents_) {
      for (const pid_t child : children_of(agent->pid())) helpers_.push_back(child);
    }
    REQUIRE(helpers_.size() >= node_count);
  }

  [[nodiscard]] fake_nodes& nodes() { return nodes_; }
  void kill(std::size_t node) const { ::kill(agents_[node]->pid(), SIGKILL); }
  [[nodiscard]] bool none_is_disturbed() const {
    for (std::size_t rank = 0; rank < node_count; ++rank) {
      if (!runs_freely(nodes_.pid(rank))) return false;
    }
    return true;
  }
  /// Checks that all agents end with their front end, and the processes that they have started end with them.
  void check_end(const rank_set& killed) {
    nodes_.end_front();
    for (std::size_t i = 0; i < node_count; ++i) {
      const auto end = agents_[i]->wait();
      INFO("node " << i << ": " << end.err);
      const bool was_killed = killed.contains(static_cast<std::uint32_t>(i));
      CHECK((was_killed ? end.signal == SIGKILL : end.exit_code == 0));
    }
    for (const pid_t helper : helpers_) CHECK(comes_true([&] { return process_state(helper) == ' '; }));
    CHECK(comes_true([&] { return none_is_disturbed(); }));
  }

 private:
  fake_nodes nodes_;
  std::vector<std::unique_ptr<running_command>> agents_;
  std::vector<pid_t> helpers_;
};

/// Checks that each agent has answered or was killed.
void check(const collected_answer& seen, const rank_set& killed) {
  rank_set told;
  if (seen.what) told = std::get<group_stacks>(*seen.what).taken;
  for (const agent_problem& missing : seen.missing) {
    const std::uint32_t rank = missing.agent - 1;
    INFO("node " << rank << ": " << missing.why.message);
    CHECK(killed.contains(rank));
    CHECK_THAT(missing.why.message, ContainsSubstring("its agent has ended"));
    told.add(rank);
  }
  CHECK(told.count() == node_count);
}

/// A look during which an agent is killed, and a second look. After the second one the loss is known: if an agent and
/// its parent ended right after each other, the loss of one could be unknown.
void look_and_kill(tree_of_programs& tree, std::uint32_t node, rank_set& killed, std::chrono::microseconds when) {
  std::thread killer([&] {
    // The moment of the kill is the subject of the test.
    std::this_thread::sleep_for(when);
    tree.kill(node);
  });
  const collected_answer during = tree.nodes().ask(ask_stacks{});
  killer.join();
  killed.add(node);
  check(during, killed);
  const collected_answer after = tree.nodes().ask(ask_stacks{});
  check(after, killed);
  CHECK(after.missing.size() == killed.count());
  CHECK(comes_true([&] { return tree.none_is_disturbed(); }));
}

}  // namespace

TEST_CASE("rounds: looks end and report the killed agent if an inner agent is killed during each") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  // A look takes about ten milliseconds.
  std::uniform_int_distribution<int> moment(0, 40'000);
  std::size_t before = 0;
  for (std::size_t number = 0; number < tree_count; ++number) {
    INFO("tree " << number);
    {
      tree_of_programs tree;
      std::vector<std::uint32_t> order = {0, 1, 2, 3, 4};
      std::shuffle(order.begin(), order.end(), random);
      rank_set killed;
      for (const std::uint32_t node : order) {
        INFO("killing node " << node);
        look_and_kill(tree, node, killed, std::chrono::microseconds(moment(random)));
      }
      tree.check_end(killed);
    }
    if (number == 0) before = open_descriptors();
    CHECK(open_descriptors() == before);
  }
}
