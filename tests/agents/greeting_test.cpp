// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The beginning of an agent: a connection that ends before the assignment, and ranks that end before it.
#include "fake_front_end.hpp"
#include "fake_nodes.hpp"
#include "patience.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::agents;

namespace {

/// The number of a process that has ended.
process_id gone() {
  const live_process process({"true"});
  return process.pid();
}

/// Sends an agent's greeting, and does nothing else.
class greeter {
 public:
  explicit greeter(const agent_order& order)
      : order_(order),
        who_(trust::for_agent(order.proof).value()),
        context_(zmq_context::make().value()),
        own_key_(make_keys()->open) {}

  /// Uses a new connection, which stays open until the next call.
  void greet() {
    link_ =
        parent_connection::open(context_, who_, order_.endpoints.at(0), from_hex(order_.front_end_key).value()).value();
    hello greeting;
    greeting.names.given = order_.node;
    greeting.address = {order_.endpoints, own_key_};
    REQUIRE(link_->send(greeting));
  }
  /// The assignment that it receives; empty if it receives another message, or none.
  [[nodiscard]] std::optional<assignment> assigned(front_end& front) {
    const auto end = clock::now() + patience;
    while (clock::now() < end) {
      front.turn(clock::now() + std::chrono::milliseconds(10));
      while (auto happened = link_->next()) {
        const auto* said = std::get_if<message>(&*happened);
        if (said == nullptr) continue;
        if (const auto* told = std::get_if<assignment>(said)) return *told;
        if (std::holds_alternative<goodbye>(*said)) return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  agent_order order_;
  trust who_;
  zmq_context context_;
  curve_key own_key_;
  std::unique_ptr<parent_connection> link_;
};

}  // namespace

TEST_CASE("agent's greeting: an agent that disconnects before its assignment gets the same one again") {
  fake_nodes nodes({waiting_words}, 1);
  greeter agent(nodes.order_for("n0"));
  for (int connection = 0; connection < 3; ++connection) {
    INFO("connection " << connection);
    agent.greet();
    const auto told = agent.assigned(nodes.front());
    REQUIRE(told.has_value());
    CHECK(told->number == 1);
    REQUIRE(told->ranks.size() == 1);
    CHECK(told->ranks[0].pid == process_id{nodes.pid(0)});
  }
  CHECK(nodes.front().agents().size() == 1);
  CHECK(nodes.front().direct() == 1);
  // Another process on the same node is another agent.
  greeter other(nodes.order_for("n0"));
  other.greet();
  const auto told = other.assigned(nodes.front());
  REQUIRE(told.has_value());
  CHECK(told->number == 2);
}

TEST_CASE("agent's end: an agent ends if its ranks have ended before its assignment") {
  fake_front_end front;
  agent_thread agent(front.order());
  (void)front.assign_one({{{}, gone(), ""}});
  const auto said = front.next<answer>();
  REQUIRE(said.has_value());
  REQUIRE(said->second.problems.size() == 1);
  CHECK_THAT(said->second.problems[0].why.message, ContainsSubstring("its ranks have ended"));
  CHECK(front.next<goodbye>().has_value());
  CHECK(agent.outcome().has_value());
}

TEST_CASE("agent's end: an agent ends when its last rank has ended") {
  auto rank = std::make_unique<live_process>(waiting_rank());
  (void)rank->lines_until_ready();
  fake_front_end front;
  agent_thread agent(front.order());
  const auto peer = front.assign_one({{{}, gone(), ""}, {entry_index{1}, rank->pid(), ""}});
  // The agent stays while one rank runs.
  REQUIRE(front.connections().send(peer, ask{1, 20'000, ask_stacks{}}) == sending::done);
  const auto seen = front.next<answer>();
  REQUIRE(seen.has_value());
  REQUIRE(seen->second.what.has_value());
  CHECK(std::get<group_stacks>(*seen->second.what).taken.text() == "1");
  rank.reset();
  CHECK(comes_true([&] {
    // A front end sends one twice a second.
    (void)front.connections().send(peer, heartbeat{});
    while (const auto come = front.connections().receive()) {
      if (std::holds_alternative<goodbye>(come->what)) return true;
    }
    return false;
  }));
  CHECK(agent.outcome().has_value());
}
