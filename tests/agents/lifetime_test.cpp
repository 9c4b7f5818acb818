// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// An agent ends when its front end, its job or its time ends, whatever it is doing.
#include <algorithm>
#include <deque>
#include <future>

#include "fake_front_end.hpp"
#include "fake_nodes.hpp"
#include "node/agent_process.hpp"
#include "patience.hpp"
#include "sample_messages.hpp"
#include "slow_path.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::agents;

namespace {

constexpr std::chrono::seconds front_end_missed_within{60};

/// Kills the front end, and returns the time until the agent has ended.
clock::duration time_to_end(fake_front_end& front, agent_thread& agent) {
  const auto begin = clock::now();
  front.die();
  static_cast<void>(agent.outcome());
  return clock::now() - begin;
}

constexpr std::size_t many_calls = 24'000;

/// The question is answered with stacks of some 12 MB, more than the kernel keeps for a connection. `asked`: it has
/// come.
answerer long_answer(const std::vector<rank_process>& ranks, std::promise<void>& asked) {
  group_stacks part;
  for (std::size_t call = 0; call < many_calls; ++call) {
    add_stack(part.tree, 0, {std::to_string(call) + std::string(500, 'x')});
  }
  part.taken.add(ranks.at(0).entry);
  return {[part = std::move(part), &asked](const question&, const answer_terms&) {
    asked.set_value();
    return answer_body(part);
  }};
}

}  // namespace

TEST_CASE("agent's end: an agent ends if no address of its front end can be reached") {
  agent_order order;
  {
    fake_front_end gone;
    order = gone.order();
  }
  const test::scratch_folder folder;
  const secret_file secret = secret_file::create(folder.path(".")).value();
  order.proof = "file:" + secret.path_for_agents();
  order.endpoints.resize(16, order.endpoints.front());
  const auto begin = clock::now();
  CHECK_FALSE(run_agent(order).has_value());
  CHECK(clock::now() - begin < front_end_missed_within);
}

TEST_CASE("agent's end: an agent ends if its front end is killed before it sends anything") {
  fake_front_end front;
  agent_thread agent(front.order());
  REQUIRE(front.hears_something());
  CHECK(time_to_end(front, agent) < front_end_missed_within);
}

TEST_CASE("agent's end: an agent that holds ranks ends with its front end, and the ranks continue") {
  live_process rank(waiting_rank());
  (void)rank.lines_until_ready();
  fake_front_end front;
  agent_thread agent(front.order());
  const auto peer = front.assign_one({{{}, rank.pid(), ""}});
  REQUIRE(front.connections().send(peer, ask{1, 20'000, ask_hold{}}) == sending::done);
  const auto held = front.next<answer>();
  REQUIRE(held.has_value());
  CHECK(std::get<hold_part>(*held->second.what).held.text() == "0");
  CHECK(time_to_end(front, agent) < front_end_missed_within);
  CHECK(runs_freely(static_cast<pid_t>(rank.pid().value())));
}

TEST_CASE("agent's end: a front end that is busy and sends nothing keeps its agents") {
  fake_front_end front;
  agent_thread agent(front.order());
  const auto peer = front.assign_one({});
  // This is longer than an agent waits for a silent parent, and then for another one.
  std::this_thread::sleep_for(std::chrono::seconds(5));
  REQUIRE(front.connections().send(peer, ask{1, 20'000, ask_stacks{}}) == sending::done);
  CHECK(front.next<answer>().has_value());
}

TEST_CASE("agent's end: an agent whose parent never answers returns to the front end and ends with it") {
  fake_front_end front;
  agent_thread agent(front.order());
  const auto greeting = front.next<hello>();
  REQUIRE(greeting.has_value());
  const silent_port parent;
  peer_address above{{}, make_keys()->open};
  SECTION("with one address") {
    above.endpoints.assign(1, parent.endpoint());
  }
  SECTION("with many addresses") {
    above.endpoints.assign(6, parent.endpoint());
  }
  REQUIRE(front.connections().send(greeting->first, assignment{3, {front.connections().address(), above}, {}}) ==
          sending::done);
  front.connections().forget(greeting->first);
  const auto again = front.next<hello>();
  REQUIRE(again.has_value());
  CHECK(again->second.number == 3);
  CHECK(time_to_end(front, agent) < front_end_missed_within);
}

TEST_CASE("agent's end: an agent that waits for a silent parent ends with its front end") {
  fake_front_end front;
  agent_thread agent(front.order());
  const auto greeting = front.next<hello>();
  REQUIRE(greeting.has_value());
  silent_port parent;
  const peer_address above{{parent.endpoint()}, make_keys()->open};
  REQUIRE(front.connections().send(greeting->first, assignment{3, {front.connections().address(), above}, {}}) ==
          sending::done);
  REQUIRE(parent.is_called());
  CHECK(time_to_end(front, agent) < front_end_missed_within);
}

TEST_CASE("agent's end: an agent ends if the process at the front end's address stays silent") {
  fake_front_end front;
  const silent_port stranger;
  agent_order order = front.order();
  order.endpoints = {stranger.endpoint()};
  const auto begin = clock::now();
  const auto outcome = run_agent(order);
  CHECK(clock::now() - begin < soon);
  REQUIRE_FALSE(outcome.has_value());
  CHECK(outcome.error().code == error_code::timed_out);
  CHECK_THAT(outcome.error().message, ContainsSubstring("has not shown"));
}

TEST_CASE("agent's end: an agent ends if its front end speaks another version, and says so") {
  const key_pair keys = make_keys().value();
  const auto context = zmq_context::make().value();
  auto port = zmq_socket::make(context, ZMQ_ROUTER).value();
  REQUIRE((port.set(ZMQ_CURVE_SERVER, 1) && port.set(ZMQ_CURVE_SECRETKEY, keys.secret)));
  REQUIRE(zmq_bind(port.get(), "tcp://127.0.0.1:*") == 0);
  fake_front_end for_its_secret;
  agent_order order = for_its_secret.order();
  order.endpoints = {port.text_option(ZMQ_LAST_ENDPOINT)};
  order.front_end_key = hex(keys.open);
  agent_thread agent(order);
  zmq_pollitem_t item{port.get(), -1, ZMQ_POLLIN, 0};
  REQUIRE(zmq_poll(&item, 1, 10'000) == 1);
  const auto greeting = parts_of_message(port);
  REQUIRE(greeting.size() == 2);
  auto bytes = encode(welcome{});
  const auto version = std::find(bytes.begin(), bytes.end(), std::byte{'/'}) + 1;
  *version = std::byte{'9'};
  REQUIRE(send_part(port, greeting[0], true) == 0);
  REQUIRE(send_part(port, std::span<const std::byte>(bytes), false) == 0);
  const auto& outcome = agent.outcome();
  REQUIRE_FALSE(outcome.has_value());
  CHECK(outcome.error().code == error_code::unsupported);
  CHECK_THAT(outcome.error().message, ContainsSubstring("mpiacq.agent/9"));
}

TEST_CASE("agent's end: an agent ends when its time is over") {
  fake_front_end front;
  agent_order order = front.order();
  order.at_most = std::chrono::seconds(1);
  agent_thread agent(order);
  (void)front.assign_one({});
  CHECK(front.next<goodbye>().has_value());
  CHECK(agent.outcome().has_value());
  const fake_nodes nodes({waiting_words}, 1);
  CHECK(nodes.order_for("n0").at_most == std::chrono::hours(7 * 24));
}

TEST_CASE("agent's end: an agent ends with the ranks of its node, and reports that reason") {
  fake_nodes nodes({waiting_words, waiting_words, waiting_words}, 1, 2);
  std::deque<agent_thread> agents;
  for (const char* node : {"n0", "n1", "n2"}) agents.emplace_back(nodes.order_for(node));
  REQUIRE(nodes.wait_for_agents(3));
  // Now all agents know their ranks.
  REQUIRE(nodes.ask(ask_stacks{}).missing.empty());
  // The last agent that arrived is a leaf of the tree.
  const std::string last = nodes.front().agents()[2].names.given;
  const std::size_t which = static_cast<std::size_t>(last.back() - '0');
  nodes.end_rank(which);
  CHECK(agents[which].outcome().has_value());
  const collected_answer held = nodes.ask(ask_hold{});
  REQUIRE(held.missing.size() == 1);
  CHECK(held.missing[0].agent == 3);
  CHECK(held.missing[0].why.code == error_code::process_gone);
  CHECK_THAT(held.missing[0].why.message, ContainsSubstring("its ranks have ended"));
  CHECK(std::get<hold_part>(*held.what).held.text() == (which == 0 ? "1-2" : which == 1 ? "0,2" : "0-1"));
}

TEST_CASE("agent's end: the last answer arrives although the network is slow") {
  auto rank = std::make_unique<live_process>(waiting_rank());
  (void)rank->lines_until_ready();
  std::promise<void> asked;
  std::future<result<void>> agent;  // before its front end, because it ends with that
  fake_front_end front;
  slow_path path(front.order().endpoints.at(0));
  agent_order order = front.order();
  order.endpoints = {path.endpoint()};
  const answerer_factory answers = [&](const std::vector<rank_process>& ranks) { return long_answer(ranks, asked); };
  agent = std::async(std::launch::async, [&] { return agent_process::run(order, answers, -1); });
  const auto peer = front.assign_one({{entry_index{0}, rank->pid(), ""}});
  path.take(false);
  REQUIRE(front.connections().send(peer, ask{1, 20'000, ask_stacks{}}) == sending::done);
  REQUIRE(asked.get_future().wait_for(patience) == std::future_status::ready);
  rank.reset();
  // The agent looks twice a second at most whether its rank has ended, when a heartbeat has arrived. A network that
  // takes nothing for much longer counts as lost.
  for (int beat = 0; beat < 10; ++beat) {
    REQUIRE(front.connections().send(peer, heartbeat{}) == sending::done);
    CHECK(agent.wait_for(std::chrono::milliseconds(100)) == std::future_status::timeout);
  }
  path.take(true);
  // The front end goes on to send heartbeats: bytes that an agent has not read when it ends reset the connection.
  std::optional<answer> said;
  REQUIRE(comes_true([&] {
    static_cast<void>(front.connections().send(peer, heartbeat{}));
    while (auto come = front.connections().receive()) {
      if (auto* part = std::get_if<answer>(&come->what)) said = std::move(*part);
      if (said) break;
    }
    return said.has_value();
  }));
  CHECK((said->what && std::get<group_stacks>(*said->what).tree.size() == many_calls + 1));
  CHECK(front.next<goodbye>().has_value());
  CHECK(agent.get().has_value());
}

TEST_CASE("agent's end: an agent that ends right after its greeting is reported") {
  fake_nodes nodes({waiting_words}, 1);
  const agent_order order = nodes.order_for("n0");
  const trust who = trust::for_agent(order.proof).value();
  const auto context = zmq_context::make().value();
  auto link =
      parent_connection::open(context, who, order.endpoints.at(0), from_hex(order.front_end_key).value()).value();
  hello greeting;
  greeting.names.given = "n0";
  greeting.address.endpoints = order.endpoints;
  REQUIRE(link->send(greeting));
  REQUIRE(nodes.wait_for_agents(1));
  link.reset();
  const collected_answer stacks = nodes.ask(ask_stacks{});
  REQUIRE(stacks.missing.size() == 1);
  CHECK_THAT(stacks.missing[0].why.message, ContainsSubstring("its agent has ended"));
}
