// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Each bound on what a peer can send or leave unread, reached and exceeded.
#include "channel.hpp"
#include "fake_tree.hpp"
#include "sample_messages.hpp"
#include "tree/child_links.hpp"

using namespace mpiacq;
using namespace mpiacq::agents;
using namespace mpiacq::test;

namespace {

/// A connection between two peers that have proven their identity.
struct connected {
  scratch_folder folder;
  trust front = trust::for_front_end(folder.path("no-socket"), folder.path(".")).value();
  trust agent = trust::for_agent(front.proof()).value();
  channel both{front, agent};
  peer_name peer;

  connected() {
    both.connect_and_greet();
    const auto come = both.next_above();
    REQUIRE(come.has_value());
    peer = come->from;
  }
};

constexpr std::uint32_t deepest = 131'072;

/// A message with a call tree of one stack, encoded and decoded.
result<message> sent_tree(std::uint32_t frames) {
  thread_stack stack;
  stack.frames.assign(frames, {{}, some_place("f")});
  group_stacks part;
  part.tree.add(entry_index{0}, stack);
  part.taken.add(0);
  return decode(encode(answer{1, rank_set(1), {}, std::move(part)}));
}

/// An answer with an error text of this length.
answer long_answer(std::size_t bytes) {
  group_stacks part;
  part.refused.push_back({rank_set(0), error{error_code::system, std::string(bytes, 'x')}});
  return {1, rank_set(1), {}, std::move(part)};
}

}  // namespace

TEST_CASE("bounds: a call tree of 131,072 frames is accepted, and a deeper one is refused") {
  const auto read = sent_tree(deepest);
  REQUIRE(read.has_value());
  CHECK(std::get<group_stacks>(*std::get<answer>(*read).what).tree.size() == deepest + 1);
  const auto refused = sent_tree(deepest + 1);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == error_code::limit);
  CHECK_THAT(refused.error().message, ContainsSubstring("more than 131072 frames"));
}

TEST_CASE("bounds: a turn handles ten thousand messages, even if there are always more") {
  constexpr std::size_t most = 10'000, some_more = 50, at_once = 500;
  connected ends;
  child_links below(*ends.both.upper);
  std::size_t taken = 0, sent = 0;
  // The next message has always arrived before a message is taken.
  const auto feed = [&] {
    if (sent == taken && sent < most + some_more) {
      for (std::size_t i = 0; i < at_once; ++i) REQUIRE(ends.both.lower->send(heartbeat{}));
      sent += at_once;
    }
    auto items = ends.both.upper->poll_items();
    REQUIRE(zmq_poll(items.data(), 1, 10'000) == 1);
  };
  below.received = [&](std::size_t) {
    ++taken;
    if (taken < most + some_more) feed();
  };
  feed();
  below.turn();
  CHECK(taken == most);
  // The next turn handles the rest.
  below.turn();
  CHECK(taken > most);
}

TEST_CASE("bounds: a message of more than 64 MiB is neither sent nor received") {
  connected ends;
  const answer too_long = long_answer(most_bytes);
  CHECK(ends.both.upper->send(ends.peer, too_long) == sending::full);
  CHECK_FALSE(ends.both.lower->send(too_long));
  REQUIRE(ends.both.lower->send(heartbeat{1, 2}));
  const auto heard = ends.both.next_above();
  REQUIRE(heard.has_value());
  CHECK(std::get<heartbeat>(heard->what).all == 2);
  // The connection of a peer that ignores the bound ends before the message is in memory.
  const auto keys = ends.agent.connection_keys().value();
  auto rude = zmq_socket::make(ends.both.context, ZMQ_DEALER).value();
  REQUIRE((rude.set(ZMQ_CURVE_SERVERKEY, ends.both.upper->address().key) && rude.set(ZMQ_CURVE_PUBLICKEY, keys.open) &&
           rude.set(ZMQ_CURVE_SECRETKEY, keys.secret)));
  REQUIRE(zmq_connect(rude.get(), ends.both.upper->address().endpoints.at(0).c_str()) == 0);
  hello greeting;
  greeting.names.host = "rude";
  REQUIRE(send_part(rude, std::span<const std::byte>(encode(greeting)), false) == 0);
  const auto come = ends.both.next_above();
  REQUIRE(come.has_value());
  REQUIRE(send_part(rude, std::span<const std::byte>(encode(too_long)), false) == 0);
  CHECK(comes_true([&] { return ends.both.upper->send(come->from, heartbeat{}) == sending::gone; }));
  CHECK_FALSE(ends.both.upper->receive().has_value());
  CHECK(ends.both.upper->dropped().unreadable == 0);
}

TEST_CASE("bounds: if a peer reads nothing, the queue for it is bounded and no send waits") {
  connected ends;
  const message padded = long_answer(8192);
  constexpr std::size_t by_far_too_many = 20'000;
  std::size_t sent = 0;
  sending outcome = sending::done;
  // The other end reads nothing. Its connection may end before the queues are full.
  while (outcome == sending::done && ++sent < by_far_too_many) outcome = ends.both.upper->send(ends.peer, padded);
  CHECK(outcome != sending::done);
  CHECK(sent > 100);
  // The same in the other direction.
  connected others;
  sent = 0;
  while (others.both.lower->send(padded) && ++sent < by_far_too_many) continue;
  CHECK(sent < by_far_too_many);
  CHECK(sent > 100);
}
