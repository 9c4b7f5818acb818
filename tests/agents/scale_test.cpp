// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What must not grow with the number of agents: what comes to the front end, and how often anybody wakes up for
// nothing.
#include <algorithm>

#include "channel.hpp"
#include "made_up_nodes.hpp"
#include "seat.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::agents;

namespace {

constexpr std::uint32_t fan_out = 4;

/// What the front end is sent for one look at so many nodes.
std::uint64_t bytes_of(std::uint32_t count) {
  made_up_nodes nodes(count, fan_out);
  REQUIRE(nodes.front().agents().size() == count);
  // Some may be on their way to their parents at the first.
  REQUIRE(nodes.stacks().missing.empty());
  const std::uint64_t before = nodes.front().bytes_received();
  const gathered all = nodes.stacks();
  REQUIRE(all.missing.empty());
  const auto& seen = std::get<stacks_part>(*all.what);
  CHECK(seen.tree[call_tree::root].ranks.count() == count * made_up_nodes::ranks_each);
  CHECK(seen.tree.size() == 7);
  CHECK(nodes.front().direct() == std::min(count, fan_out));
  return nodes.front().bytes_received() - before;
}

/// One that nobody is below, given to the front end's care.
bool is_placed(listener& door, seat& below) {
  const auto end = clock::now() + most_waiting;
  while (!below.is_connected() && clock::now() < end) {
    auto items = door.poll_items();
    const auto more = below.poll_items();
    items.insert(items.end(), more.begin(), more.end());
    zmq_poll(items.data(), static_cast<int>(items.size()), 1000);
    below.turn();
    while (const auto come = door.receive()) {
      if (std::holds_alternative<hello>(come->what))
        static_cast<void>(door.send(come->from, place{1, {door.address()}, {}}));
    }
    while (below.next()) continue;
  }
  return below.is_connected();
}

}  // namespace

TEST_CASE("scale: what the front end gets of like ranks is what its own children say, however many are below them") {
  const std::uint64_t of_one = bytes_of(1);
  CHECK(bytes_of(4) <= 4 * of_one + 100);
  CHECK(bytes_of(64) <= 5 * of_one);
}

TEST_CASE("scale: an agent that answers to the front end is not woken for anything") {
  scratch_folder folder;
  trust upper = trust::begin(folder.path("no-socket"), folder.path(".")).value();
  trust lower = trust::told(upper.proof()).value();
  const auto door = listener::open(upper, {true}).value();
  const auto context = zmq_context::make().value();
  seat place_below(context, lower, door->address(), {}, {{"tcp://127.0.0.1:1"}, {}});
  CHECK(place_below.next_turn() != no_deadline);
  REQUIRE(is_placed(*door, place_below));
  CHECK(place_below.next_turn() == no_deadline);
  CHECK(branch(*door).next_turn() == no_deadline);
}
