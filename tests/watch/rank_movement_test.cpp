// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Whether one rank has moved, from looks made up by hand.
#include "rank_movement.hpp"

#include "catch.hpp"

using namespace mpiacq;
using namespace mpiacq::watching;
using namespace std::chrono_literals;
using mode = rank_movement::mode;

namespace {

const deadline start = deadline(1000s);

std::shared_ptr<const code_place> place(const std::string& function) {
  return std::make_shared<const code_place>(code_place{function, "app.c", 1, "/bin/app", {}});
}

/// A rank in these functions, the outermost first. The number of a function stands for its activation.
rank_sight computes_in(const std::vector<std::pair<std::string, std::uint64_t>>& functions,
                       std::uint64_t instruction = 1) {
  rank_sight seen;
  seen.is = rank_sight::state::outside;
  seen.position.instruction = instruction;
  for (const auto& [function, number] : functions) {
    seen.position.activations.push_back(number);
    seen.path.push_back(place(function));
  }
  return seen;
}

rank_sight in_call(const std::string& function, std::uint64_t call, std::uint64_t contents) {
  rank_sight seen = computes_in({{"main", 1}, {"exchange", 2}});
  seen.is = rank_sight::state::in_call;
  seen.function = function;
  seen.at = {"exchange", "app.c", 20};
  seen.position.call = call;
  seen.position.contents = contents;
  return seen;
}

rank_sight polls(const std::vector<std::pair<std::string, std::uint64_t>>& functions) {
  rank_sight seen = computes_in(functions);
  seen.is = rank_sight::state::in_call;
  seen.function = "MPI_Iprobe";
  seen.polls = true;
  return seen;
}

}  // namespace

TEST_CASE("a rank that waits in a call moves when its program's stack shows that the call is another one") {
  rank_movement rank;
  CHECK(rank.is() == mode::unseen);
  CHECK_FALSE(rank.add(in_call("MPI_Recv", 7, 100), start));
  rank_sight same = in_call("MPI_Recv", 7, 100);
  same.position.instruction = 99;  // inside the call
  CHECK_FALSE(rank.add(same, start + 1s));
  CHECK(rank.is() == mode::waits);
  CHECK(rank.since() == start);
  SECTION("the contents of the stack have changed: the loop around the call has gone on") {
    CHECK(rank.add(in_call("MPI_Recv", 7, 101), start + 2s));
    CHECK(rank.since() == start + 2s);
  }
  SECTION("contents that come again do so too: a server receives from the same ranks in turn") {
    for (int i = 2; i < 50; ++i)
      CHECK(rank.add(in_call("MPI_Recv", 7, 101 - static_cast<std::uint64_t>(i % 2)), start + std::chrono::seconds(i)));
  }
  SECTION("it was called from another place") {
    CHECK(rank.add(in_call("MPI_Recv", 8, 100), start + 2s));
  }
  SECTION("another call") {
    CHECK(rank.add(in_call("MPI_Send", 7, 100), start + 2s));
  }
  SECTION("what is not known says nothing") {
    CHECK_FALSE(rank.add(in_call("MPI_Recv", 0, 0), start + 2s));
    CHECK(rank.since() == start);
  }
  SECTION("its thread has read or written") {
    same.position.bytes_moved = 10;
    CHECK_FALSE(rank.add(same, start + 2s));  // the first number
    CHECK_FALSE(rank.add(same, start + 3s));
    same.position.bytes_moved = 11;
    CHECK(rank.add(same, start + 4s));
  }
  SECTION("it has left the call") {
    CHECK(rank.add(computes_in({{"main", 1}}), start + 2s));
  }
  SECTION("its stack cannot be taken") {
    CHECK(rank.add({}, start + 2s));
    CHECK(rank.is() == mode::away);
    CHECK_FALSE(rank.add({}, start + 3s));
  }
}

TEST_CASE("contents that come again in MPI_Waitany are those of a variable that the MPI writes while it waits") {
  rank_movement rank;
  const auto waits_any = [](std::uint64_t contents) {
    rank_sight seen = in_call("MPI_Waitany", 7, contents);
    seen.writes_meanwhile = true;
    return seen;
  };
  CHECK_FALSE(rank.add(waits_any(100), start));
  CHECK(rank.add(waits_any(101), start + 2s));
  for (int i = 3; i < 50; ++i)
    CHECK_FALSE(rank.add(waits_any(100 + static_cast<std::uint64_t>(i % 2)), start + std::chrono::seconds(i)));
  CHECK(rank.since() == start + 2s);
  CHECK(rank.add(waits_any(102), start + 60s));
}

TEST_CASE("a rank that computes moves when it comes into a function in which it was not seen") {
  rank_movement rank;
  CHECK_FALSE(rank.add(computes_in({{"main", 1}, {"solve", 2}}, 10), start));
  CHECK_FALSE(rank.add(computes_in({{"main", 1}, {"solve", 2}}, 10), start + 1s));
  CHECK_FALSE(rank.runs());
  CHECK_FALSE(rank.add(computes_in({{"main", 1}, {"solve", 2}}, 11), start + 2s));
  CHECK(rank.runs());
  CHECK(rank.is() == mode::computes);
  REQUIRE(rank.function() != nullptr);
  CHECK(rank.function()->function == "solve");

  CHECK(rank.add(computes_in({{"main", 1}, {"solve", 2}, {"dot", 3}}), start + 3s));
  CHECK(rank.since() == start + 3s);
  CHECK(rank.function()->function == "dot");
  // From now on, the rank goes round in a set of known functions.
  for (int i = 4; i < 100; ++i) {
    const bool inner = i % 2 == 0;
    CHECK_FALSE(rank.add(
        inner ? computes_in({{"main", 1}, {"solve", 2}}) : computes_in({{"main", 1}, {"solve", 2}, {"dot", 3}}),
        start + std::chrono::seconds(i)));
  }
  CHECK(rank.since() == start + 3s);
  CHECK(rank.function()->function == "solve");
  CHECK(rank.add(computes_in({{"main", 1}, {"write_result", 5}}), start + 100s));
}

TEST_CASE("a rank that computes moves when a call that no look has met has left other values below its stack") {
  constexpr std::uint64_t piece = rank_position::left_piece, end = 100 * piece;
  const auto computes = [](std::uint64_t left_end, std::vector<std::uint64_t> left) {
    rank_sight seen = computes_in({{"main", 1}, {"solve", 2}});
    seen.position.left_end = left_end;
    seen.position.left = std::move(left);
    return seen;
  };
  rank_movement rank;
  CHECK_FALSE(rank.add(computes(end, {1, 2, 3, 4}), start));
  CHECK_FALSE(rank.add(computes(end, {1, 2, 3, 4}), start + 1s));
  SECTION("values far below the stack") {
    CHECK(rank.add(computes(end, {1, 2, 3, 5}), start + 2s));
    CHECK_FALSE(rank.add(computes(end, {1, 2, 3, 5}), start + 3s));
  }
  SECTION("values right below the stack are those of small functions") {
    CHECK_FALSE(rank.add(computes(end, {9, 2, 3, 4}), start + 2s));
  }
  SECTION("a function that was seen deeper writes there") {
    CHECK_FALSE(rank.add(computes(end - 2 * piece, {8, 4}), start + 2s));
    CHECK_FALSE(rank.add(computes(end, {1, 7, 7, 4}), start + 3s));
    CHECK_FALSE(rank.add(computes(end, {2, 6, 6, 4}), start + 4s));
    CHECK_FALSE(rank.add(computes(end, {2, 6, 6, 4, 4}), start + 5s));
  }
  SECTION("pieces are compared by their addresses") {
    CHECK_FALSE(rank.add(computes(end + piece, {0, 1, 2, 3, 4}), start + 2s));
    CHECK(rank.add(computes(end + piece, {0, 1, 2, 3, 5}), start + 3s));
  }
  SECTION("what is not known says nothing") {
    CHECK_FALSE(rank.add(computes(0, {}), start + 2s));
    CHECK_FALSE(rank.add(computes(end, {1, 2, 3, 5}), start + 3s));
  }
  SECTION("numbers that make no sense do no harm") {
    CHECK_FALSE(rank.add(computes(3, {1, 2}), start + 2s));
    CHECK_FALSE(rank.add(computes(1, {5, 6}), start + 3s));
    CHECK_FALSE(rank.add(computes(UINT64_MAX, {5, 6}), start + 4s));
  }
  SECTION("a rank that polls in vain leaves other values, too") {
    CHECK_FALSE(rank.add(polls({{"main", 1}, {"solve", 2}}), start + 2s));
    CHECK_FALSE(rank.add(computes(end, {1, 2, 3, 4}), start + 3s));
    CHECK_FALSE(rank.add(computes(end, {1, 2, 3, 5}), start + 4s));
  }
}

TEST_CASE("a rank that is always in a new function always moves, and takes bounded memory") {
  rank_movement rank;
  CHECK_FALSE(rank.add(computes_in({{"main", 1}}), start));
  for (std::uint64_t i = 2; i < 10'000; ++i)
    CHECK(rank.add(computes_in({{"main", i}}), start + std::chrono::seconds(i)));
}

TEST_CASE("a rank that polls in vain does not move, and one that finds work does") {
  rank_movement rank;
  const std::vector<std::pair<std::string, std::uint64_t>> loop = {{"main", 1}, {"serve", 2}};
  CHECK_FALSE(rank.add(polls(loop), start));
  for (int i = 1; i < 50; ++i)
    CHECK_FALSE(rank.add(i % 3 == 0 ? computes_in(loop) : polls(loop), start + std::chrono::seconds(i)));
  CHECK(rank.is() == mode::polls);
  CHECK(rank.since() == start);
  CHECK(rank.polled() == "MPI_Iprobe");
  CHECK(rank.function()->function == "serve");

  const auto work = computes_in({{"main", 1}, {"serve", 2}, {"do_work", 9}});
  CHECK(rank.add(work, start + 60s));
  CHECK_FALSE(rank.add(work, start + 61s));
  CHECK_FALSE(rank.add(polls(loop), start + 62s));
  SECTION("each piece of work is a movement, although the function is known") {
    CHECK(rank.add(work, start + 63s));
  }
  SECTION("the function that calls the one which polls is no work") {
    rank_movement wrapped;
    CHECK_FALSE(wrapped.add(computes_in({{"main", 1}}), start));
    CHECK(wrapped.add(polls(loop), start + 1s));
    CHECK_FALSE(wrapped.add(computes_in({{"main", 1}}), start + 2s));
    CHECK_FALSE(wrapped.add(polls(loop), start + 3s));
    CHECK_FALSE(wrapped.add(computes_in({{"main", 1}}), start + 4s));
  }
}

TEST_CASE("a rank that computes after it has polled does not move for ever") {
  rank_movement rank;
  CHECK_FALSE(rank.add(polls({{"main", 1}, {"serve", 2}}), start));
  const auto work = computes_in({{"main", 1}, {"serve", 2}, {"do_work", 9}});
  CHECK(rank.add(work, start + 1s));
  CHECK_FALSE(rank.add(work, start + 2s));
  CHECK_FALSE(rank.add(work, start + 3s));
}

TEST_CASE("calls that return in any case are no waits") {
  CHECK(is_polling_call(activity_in("MPI_Iprobe")));
  CHECK(is_polling_call(activity_in("MPI_Testall")));
  CHECK(is_polling_call(activity_in("MPI_Wtime")));
  CHECK_FALSE(is_polling_call(activity_in("MPI_Probe")));
  CHECK_FALSE(is_polling_call(activity_in("MPI_Isend")));
}
