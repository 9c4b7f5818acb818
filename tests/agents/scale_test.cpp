// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Costs that must not grow with the number of agents: the bytes that reach the front end, and idle wake-ups.
#include <algorithm>
#include <semaphore>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>

#include "channel.hpp"
#include "fake_front_end.hpp"
#include "fake_tree.hpp"
#include "remote/node_agents.hpp"
#include "start/scoped_fd_limit.hpp"
#include "start/starter_command.hpp"
#include "tree/node_match.hpp"
#include "tree/parent_link.hpp"
#include "wire/protocol_times.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::agents;

namespace {

constexpr std::uint32_t fan_out = 4;

/// The bytes that reach the front end for one look at so many nodes.
std::uint64_t bytes_of(std::uint32_t count) {
  fake_tree nodes(count, fan_out);
  REQUIRE(nodes.front().agents().size() == count);
  // Some agents may still be connecting to their parents during the first look.
  REQUIRE(nodes.stacks().missing.empty());
  const std::uint64_t before = nodes.front().bytes_received();
  const collected_answer all = nodes.stacks();
  REQUIRE(all.missing.empty());
  const auto& seen = std::get<group_stacks>(*all.what);
  CHECK(seen.tree[call_tree::root].ranks.count() == count * fake_tree::ranks_each);
  CHECK(seen.tree.size() == 7);
  CHECK(nodes.front().direct() == std::min(count, fan_out));
  // The front end keeps the ranks of an agent only until its first answer.
  for (const agent_facts& agent : nodes.front().agents()) CHECK(agent.ranks.capacity() == 0);
  return nodes.front().bytes_received() - before;
}

/// Gives an agent an assignment with the front end as its parent. True when it is connected.
bool is_assigned(listener& door, parent_link& below) {
  const auto end = clock::now() + most_waiting;
  while (!below.is_connected() && clock::now() < end) {
    auto items = door.poll_items();
    const auto more = below.poll_items();
    items.insert(items.end(), more.begin(), more.end());
    zmq_poll(items.data(), static_cast<int>(items.size()), 1000);
    below.turn();
    while (const auto come = door.receive()) {
      if (std::holds_alternative<hello>(come->what))
        static_cast<void>(door.send(come->from, assignment{1, {door.address()}, {}}));
    }
    while (below.next()) continue;
  }
  return below.is_connected();
}

rlim_t soft_limit() {
  rlimit now{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &now) == 0);
  return now.rlim_cur;
}

/// Lowers this process's limit of descriptors for its lifetime.
class lower_limit {
 public:
  explicit lower_limit(rlim_t soft) {
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
    const rlimit lower{soft, before_.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &lower) == 0);
  }
  ~lower_limit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  lower_limit(const lower_limit&) = delete;
  lower_limit& operator=(const lower_limit&) = delete;
  [[nodiscard]] rlim_t hard() const { return before_.rlim_max; }

 private:
  rlimit before_{};
};

/// The limit of a command that starts agents.
std::string limit_of_command() {
  const auto command = starter_command::run({"sh", "-c", "ulimit -n"}, {"n1"}).value();
  REQUIRE(comes_true([&] { return !command->still_runs(); }));
  return command->last_message();
}

}  // namespace

TEST_CASE(
    "scale: for equal ranks the front end receives as much as its own children send, however many agents are below") {
  const std::uint64_t of_one = bytes_of(1);
  CHECK(bytes_of(4) <= 4 * of_one + 100);
  CHECK(bytes_of(64) <= 5 * of_one);
}

TEST_CASE("scale: an idle agent below the front end never wakes up") {
  scratch_folder folder;
  trust upper = trust::for_front_end(folder.path("no-socket"), folder.path(".")).value();
  trust lower = trust::for_agent(upper.proof()).value();
  const auto door = listener::open(upper, {true}).value();
  const auto context = zmq_context::make().value();
  parent_link place_below(context, lower, door->address(), {}, {{"tcp://127.0.0.1:1"}, {}});
  CHECK(place_below.next_turn() != no_deadline);
  REQUIRE(is_assigned(*door, place_below));
  CHECK(place_below.next_turn() == no_deadline);
  CHECK(child_links(*door).next_turn() == no_deadline);
}

TEST_CASE("scale: an agent that owes no answer receives few heartbeats and sends none") {
  fake_front_end front;
  std::counting_semaphore<> may_answer(0);
  std::thread agent([&] {
    const auto waits = [&](const question&, const answer_terms&) {
      may_answer.acquire();
      return answer_body(group_stacks{});
    };
    static_cast<void>(agents::agent_process::run(
        front.order(), [&](const auto&) { return answerer{waits}; }, -1));
  });
  const auto peer = front.assign_one({});
  child_links above(front.connections());
  above.adopt(peer, 1);
  const auto before = clock::now();
  above.turn();
  CHECK(above.next_turn() >= before + between_idle_heartbeats);
  above.put({1, 20'000, ask_stacks{}});
  CHECK(above.next_turn() <= clock::now() + between_heartbeats);
  // The agent owes an answer, and replies.
  REQUIRE(front.connections().send(peer, heartbeat{}) == sending::done);
  CHECK(front.next<heartbeat>().has_value());
  may_answer.release(2);
  CHECK(front.next<answer>().has_value());
  REQUIRE(front.connections().send(peer, heartbeat{}) == sending::done);
  REQUIRE(front.connections().send(peer, ask{2, 20'000, ask_stacks{}}) == sending::done);
  const auto next = until(front.connections(), nullptr, [&] { return front.connections().receive(); });
  REQUIRE(next.has_value());
  CHECK(std::holds_alternative<answer>(next->what));
  REQUIRE(front.connections().send(peer, goodbye{}) == sending::done);
  agent.join();
}

TEST_CASE("scale: an agent shows that it is alive while it encodes a very long answer") {
  fake_front_end front;
  group_stacks longest;
  for (std::uint32_t i = 0; i < values_between_pulses; ++i)
    longest.problems.emplace_back(error_code::limit, "too long");
  std::thread agent([order = front.order(), &longest] {
    const auto answers = [&longest](const question&, const answer_terms&) { return answer_body(longest); };
    static_cast<void>(agents::agent_process::run(
        order, [&](const auto&) { return answerer{answers}; }, -1));
  });
  const auto peer = front.assign_one({});
  REQUIRE(front.connections().send(peer, ask{1, 20'000, ask_stacks{}}) == sending::done);
  // The front end has sent no heartbeat that asks for a reply.
  const auto next = until(front.connections(), nullptr, [&] { return front.connections().receive(); });
  REQUIRE(next.has_value());
  CHECK(std::holds_alternative<heartbeat>(next->what));
  const auto answered = front.next<answer>();
  REQUIRE(answered.has_value());
  CHECK(std::get<group_stacks>(*answered->second.what).problems.size() == values_between_pulses);
  REQUIRE(front.connections().send(peer, goodbye{}) == sending::done);
  agent.join();
}

TEST_CASE("scale: an agent waits for a slow parent while the front end is connected") {
  fake_front_end front;
  const silent_port slow;
  const key_pair keys = make_keys().value();
  const auto context = zmq_context::make().value();
  std::thread agent([order = front.order()] {
    static_cast<void>(agents::agent_process::run(
        order, [](const auto&) { return answerer{}; }, -1));
  });
  const auto greeting = front.next<hello>();
  REQUIRE(greeting.has_value());
  const assignment told{3, {front.connections().address(), peer_address{{slow.endpoint()}, keys.open}}, {}};
  REQUIRE(front.connections().send(greeting->first, told) == sending::done);
  front.connections().forget(greeting->first);
  REQUIRE(slow.is_called());
  // By now the agent would have left out a parent whose port is closed.
  auto items = front.connections().poll_items();
  CHECK(zmq_poll(items.data(), static_cast<int>(items.size()), 1500) == 0);
  auto parent = zmq_socket::make(context, ZMQ_ROUTER).value();
  REQUIRE((parent.set(ZMQ_CURVE_SERVER, 1) && parent.set(ZMQ_CURVE_SECRETKEY, keys.secret) &&
           parent.set(ZMQ_USE_FD, ::fcntl(slow.descriptor(), F_DUPFD_CLOEXEC, 0))));
  REQUIRE(zmq_bind(parent.get(), slow.endpoint().c_str()) == 0);
  zmq_pollitem_t item{parent.get(), -1, ZMQ_POLLIN, 0};
  REQUIRE(zmq_poll(&item, 1, 10'000) == 1);
  const auto come = parts_of_message(parent);
  REQUIRE(come.size() == 2);
  const auto said = decode(std::as_bytes(std::span(come[1])));
  REQUIRE(said.has_value());
  CHECK(std::get<hello>(*said).number == 3);
  CHECK_FALSE(front.connections().receive().has_value());
  const auto bye = encode(goodbye{});
  REQUIRE(send_part(parent, come[0], true) == 0);
  REQUIRE(send_part(parent, std::span<const std::byte>(bye), false) == 0);
  agent.join();
}

TEST_CASE("scale: the start limit grows with the number of nodes above a thousand") {
  using std::chrono::milliseconds;
  CHECK(node_agents::time_for(0, milliseconds(30'000)) == milliseconds(30'000));
  CHECK(node_agents::time_for(1024, milliseconds(30'000)) == milliseconds(30'000));
  CHECK(node_agents::time_for(4096, milliseconds(30'000)) == milliseconds(120'000));
}

TEST_CASE("scale: a node is found by each of its names") {
  const std::vector<std::string> hosts = {"n1", "N2.cluster", "10.0.0.3", "fd00:0::4", "n5.cluster", "n5.elsewhere"};
  const std::vector<node_names> nodes = {{"", "n1.cluster", "", {}},
                                         {"", "n2", "", {}},
                                         {"", "somebody", "", {"10.0.0.9", "10.0.0.3"}},
                                         {"", "somebody", "", {"fd00::4"}},
                                         {"", "somebody", "n5.cluster", {}},
                                         {"n5.elsewhere", "N5", "", {}},
                                         {"", "n5.nowhere", "", {}}};
  name_index by_host, by_node;
  for (std::size_t i = 0; i < hosts.size(); ++i) by_host.add(i, hosts[i]);
  for (std::size_t i = 0; i < nodes.size(); ++i) by_node.add(i, nodes[i]);
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      if (!is_called(nodes[node], hosts[host])) continue;
      INFO(hosts[host] << " is node " << node);
      const auto found = by_host.find(nodes[node]);
      CHECK(std::count(found.begin(), found.end(), host) == 1);
      const auto back = by_node.find(hosts[host]);
      CHECK(std::count(back.begin(), back.end(), node) == 1);
    }
  }
  CHECK(by_host.find(nodes[0]) == std::vector<std::size_t>{0});
  CHECK(by_node.find("10.0.0.9") == std::vector<std::size_t>{2});
  CHECK(by_node.find("n6").empty());
}

TEST_CASE("scale: the descriptor limit is raised for many agents, and commands run with the original one") {
  constexpr rlim_t few = 300;
  constexpr std::size_t connections = 500;
  const lower_limit given(few);
  {
    scoped_fd_limit of_one;
    of_one.reserve(1);
    CHECK(soft_limit() <= 2 * few);
    scoped_fd_limit limit, other;
    limit.reserve(connections);
    const rlim_t raised = soft_limit();
    CHECK(raised >= few + connections / 2);
    other.reserve(2 * connections);
    CHECK(soft_limit() >= raised);
    CHECK_THAT(limit_of_command(), ContainsSubstring("300"));
    CHECK(soft_limit() >= raised);
  }
  CHECK(soft_limit() == few);
  {
    scoped_fd_limit limit;
    limit.reserve(connections);
    const rlimit others{few + 1, given.hard()};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &others) == 0);
  }
  CHECK(soft_limit() == few + 1);
}
