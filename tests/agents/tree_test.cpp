// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Agents of several nodes that are one machine: their merged answers, and their end.
#include <deque>

#include "entries.hpp"
#include "fake_front_end.hpp"
#include "fake_nodes.hpp"
#include "patience.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::agents;

namespace {

/// So many ranks, each of which waits for a message of the next, and the last for the first.
std::vector<std::vector<std::string>> ring(std::size_t count) {
  std::vector<std::vector<std::string>> words;
  for (std::size_t rank = 0; rank < count; ++rank)
    words.push_back({"receive:world:" + std::to_string((rank + 1) % count) + ":7:64", "in:MPI_Recv"});
  return words;
}

std::deque<agent_thread> start_all(fake_nodes& nodes) {
  std::deque<agent_thread> agents;
  for (std::size_t i = 0; i < nodes.node_count(); ++i) agents.emplace_back(nodes.order_for("n" + std::to_string(i)));
  REQUIRE(nodes.wait_for_agents(nodes.node_count()));
  return agents;
}

ask_queues trusting() {
  ask_queues what;
  what.how.host.trust_library = true;  // fixtures lie below /tmp
  return what;
}

}  // namespace

TEST_CASE("agents: the ranks of two nodes are held and released together") {
  fake_nodes nodes(ring(4), 2);
  const auto agents = start_all(nodes);
  const collected_answer held = nodes.ask(ask_hold{});
  CHECK(held.missing.empty());
  REQUIRE(held.what.has_value());
  CHECK(std::get<hold_part>(*held.what).held.text() == "0-3");
  CHECK(std::get<hold_part>(*held.what).others.empty());
  for (const std::size_t rank : {0U, 1U, 2U, 3U}) CHECK(nodes.is_held(rank));
  const collected_answer released = nodes.ask(ask_release{});
  CHECK(std::get<release_part>(*released.what).released.text() == "0-3");
  for (const std::size_t rank : {0U, 1U, 2U, 3U}) CHECK(runs_freely(nodes.pid(rank)));
}

TEST_CASE("agents: a deadlock between nodes is found in their queues") {
  fake_nodes nodes(ring(4), 2);
  const auto agents = start_all(nodes);
  const collected_answer queues = nodes.ask(trusting());
  REQUIRE(queues.what.has_value());
  const auto& seen = std::get<group_queues>(*queues.what);
  REQUIRE(seen.ranks.size() == 4);
  for (const rank_report& rank : seen.ranks) CHECK(is_whole(rank));
  const queue_waits waits = find_waits(seen.ranks);
  REQUIRE(waits.deadlocks.size() == 1);
  CHECK(waits.deadlocks[0].ranks == entries({0, 1, 2, 3}));
}

TEST_CASE("agents: a tree of three levels merges stacks on the way") {
  constexpr std::size_t count = 7;
  fake_nodes nodes(ring(count), 1, 2);
  const auto agents = start_all(nodes);
  for (int time = 0; time < 3; ++time) {
    const collected_answer stacks = nodes.ask(ask_stacks{});
    REQUIRE(stacks.missing.empty());
    const auto& seen = std::get<group_stacks>(*stacks.what);
    CHECK(seen.taken.text() == "0-6");
    CHECK(seen.tree[call_tree::root].ranks.text() == "0-6");
    // All ranks are in the same call, which is one node of the tree.
    bool found = false;
    for (call_tree::node_number i = 1; i < seen.tree.size(); ++i) {
      const auto& node = seen.tree[i];
      found = found || (node.place && node.place->function.starts_with("MPI_Recv") && node.ranks.text() == "0-6");
    }
    CHECK(found);
  }
}

TEST_CASE("agents: only the selected ranks are examined") {
  fake_nodes nodes(ring(4), 2);
  const auto agents = start_all(nodes);
  ask_stacks some;
  some.how.ranks = rank_selection::parse("1-2").value();
  const collected_answer stacks = nodes.ask(some);
  CHECK(stacks.missing.empty());
  CHECK(std::get<group_stacks>(*stacks.what).taken.text() == "1-2");
}

TEST_CASE("agents: a node that is not part of the job gets no agent") {
  fake_nodes nodes(ring(1), 1);
  agent_thread not_needed(nodes.order_for("elsewhere"));
  agent_thread wanted(nodes.order_for("n0"));
  REQUIRE(nodes.wait_for_agents(1));
  CHECK(nodes.front().agents()[0].names.given == "n0");
}

TEST_CASE("agents: agents release their ranks and end with their front end") {
  fake_nodes nodes(ring(3), 1, 2);
  auto agents = start_all(nodes);
  REQUIRE(nodes.ask(ask_hold{}).missing.empty());
  const auto begin = clock::now();
  nodes.end_front();
  for (agent_thread& agent : agents) CHECK(agent.outcome().has_value());
  CHECK(clock::now() - begin < soon);
  for (const std::size_t rank : {0U, 1U, 2U}) CHECK(runs_freely(nodes.pid(rank)));
}

TEST_CASE("agents: an agent that ends is reported, and the others answer") {
  fake_nodes nodes(ring(3), 1);
  auto agents = start_all(nodes);
  agents[1].stop();
  CHECK(agents[1].outcome().has_value());
  const collected_answer stacks = nodes.ask(ask_stacks{});
  REQUIRE(stacks.missing.size() == 1);
  const auto& names = nodes.front().agents()[stacks.missing[0].agent - 1].names;
  CHECK(names.given == "n1");
  CHECK_THAT(stacks.missing[0].why.message, ContainsSubstring("its agent has ended"));
  CHECK(std::get<group_stacks>(*stacks.what).taken.text() == "0,2");
}

TEST_CASE("agents: an agent with a wrong key, another run's secret or no secret ends with that reason") {
  fake_nodes nodes(ring(1), 1), other(ring(1), 1);
  agent_order order = nodes.order_for("n0");
  SECTION("the secret of another run") {
    order.proof = other.order_for("n0").proof;
    agent_thread agent(order);
    const auto end = clock::now() + patience;
    while (nodes.front().connections().dropped().keys == 0 && clock::now() < end) nodes.front().turn(end);
    const auto& outcome = agent.outcome();
    REQUIRE_FALSE(outcome.has_value());
    CHECK(outcome.error().code == error_code::permission);
    CHECK_THAT(outcome.error().message, ContainsSubstring("another run's"));
  }
  SECTION("no secret") {
    order.proof = "file:/nowhere/secret";
    const auto outcome = run_agent(order);
    REQUIRE_FALSE(outcome.has_value());
    CHECK(outcome.error().code == error_code::not_found);
    CHECK_THAT(outcome.error().message, ContainsSubstring("is the home directory the same on all nodes?"));
  }
  SECTION("an unknown kind of proof") {
    order.proof = "trust me";
    CHECK(run_agent(order).error().code == error_code::invalid_argument);
  }
}

TEST_CASE("agents: an agent that reaches no front end ends soon with that reason") {
  fake_nodes nodes(ring(1), 1);
  agent_order order = nodes.order_for("n0");
  const silent_port nobody(silent_port::connections::refused);
  order.endpoints = {nobody.endpoint()};
  const auto begin = clock::now();
  const auto outcome = run_agent(order);
  CHECK(clock::now() - begin < soon);
  REQUIRE_FALSE(outcome.has_value());
  CHECK_THAT(outcome.error().message,
             ContainsSubstring("neither the front end nor an agent above can be reached (" + order.endpoints[0]) &&
                 ContainsSubstring("no process answers"));
}

TEST_CASE("agents: an order survives the way through a command line") {
  agent_order order{{"tcp://10.0.0.1:4000", "tcp://[fd00::1]:4000"}, std::string(64, 'a'), "munge", "n1", {}};
  order.at_most = std::chrono::seconds(3600);
  const auto back = parse_agent_order(arguments_of(order));
  REQUIRE(back.has_value());
  CHECK(back->endpoints == order.endpoints);
  CHECK(back->front_end_key == order.front_end_key);
  CHECK(back->proof == "munge");
  CHECK(back->node == "n1");
  CHECK(back->at_most == order.at_most);
  const auto wrong = [](const std::vector<std::string>& arguments) {
    return parse_agent_order(arguments).error().message;
  };
  CHECK_THAT(wrong({"--to"}), ContainsSubstring("--to lacks its value"));
  CHECK_THAT(wrong({"--key", "12"}), ContainsSubstring("64 hexadecimal digits"));
  CHECK_THAT(wrong({"--at-most", "-1"}), ContainsSubstring("not a number of seconds"));
  CHECK_THAT(wrong({"--secret", "x"}), ContainsSubstring("not an option of an agent"));
  CHECK_THAT(wrong({}), ContainsSubstring("needs --to, --key and --proof"));
}
