// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// An agent that reads processes of an MPI2DD job ends with its front end, however many processes remain.
#include "fake_front_end.hpp"
#include "fake_hosts.hpp"
#include "patience.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

TEST_CASE("agent's end: an agent ends with its front end while it has processes to read for minutes") {
  const live_process process({MPIACQ_QUEUE_RANKS "/queue_rank", "0", "1"});
  fake_front_end front;
  std::vector<std::string> line = {MPIACQ_AGENT};
  for (const std::string& word : arguments_of(front.order())) line.push_back(word);
  running_command agent(line);
  const auto peer = front.assign_one({});
  const auto ask = [&](std::uint64_t number, std::size_t count) {
    agents::agent_visits all{1, {}};
    all.processes.resize(count, {"", process.pid(), "", {true, true, true}});
    return front.connections().send(peer, agents::ask{number, 600'000, agents::ask_visits{{std::move(all)}, {}, 1}});
  };
  REQUIRE(ask(1, 0) == agents::sending::done);
  REQUIRE(front.next<agents::answer>().has_value());
  const std::size_t idle = threads_of(agent.pid()).size();
  REQUIRE(ask(2, 200'000) == agents::sending::done);
  // Additional threads read the processes.
  REQUIRE(comes_true([&] { return threads_of(agent.pid()).size() > idle; }));
  const auto begin = clock::now();
  front.die();
  const auto end = agent.wait();
  INFO(end.err);
  CHECK(end.exit_code == 0);
  CHECK(clock::now() - begin < soon);
}
