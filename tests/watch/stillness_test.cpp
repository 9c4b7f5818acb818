// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// For how long no rank has moved, from stacks made up by hand.
#include "stillness.hpp"

#include "catch.hpp"
#include "look_times.hpp"
#include "placed_ranks.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::watching;
using namespace std::chrono_literals;

namespace {

const deadline first_look = deadline(1000s);

std::vector<rank_set> parts(const std::vector<std::string>& ranks) {
  std::vector<rank_set> all;
  for (const std::string& one : ranks) all.push_back(rank_set::parse(one).value());
  return all;
}

const placed_rank receives{0, {"main", "exchange", "MPI_Recv", "poll"}, 20};
const placed_rank computes{1, {"main", "solve"}, 88};
const placed_rank stays{5, {"main", "MPI_Barrier"}, 30};

}  // namespace

TEST_CASE("a job stands still while each rank is in the same call from the same place") {
  stillness job(parts({"0-9"}));
  CHECK_FALSE(job.since());
  job.add(0, sample_of({receives, computes, stays}), first_look);
  job.add(0, sample_of({receives, computes, stays}), first_look + 10s);
  REQUIRE(job.since());
  CHECK(*job.since() == first_look);
  CHECK(job.described(first_look).in_calls.text() == "0,5");
  CHECK(job.described(first_look).outside.text() == "1");

  SECTION("what happens inside a call, and in a computation, is no movement") {
    placed_rank inside = receives, elsewhere = computes;
    inside.calls.back() = "sched_yield";
    elsewhere.line = 90;
    job.add(0, sample_of({inside, elsewhere, stays}), first_look + 20s);
    CHECK(*job.since() == first_look);
  }
  SECTION("another call, another place of the same call, and a call that begins or ends are movements") {
    placed_rank moved = GENERATE(values<placed_rank>({{0, {"main", "exchange", "MPI_Send", "poll"}, 20},
                                                      {0, {"main", "exchange", "MPI_Recv", "poll"}, 21},
                                                      {0, {"main", "exchange"}, 20},
                                                      {1, {"main", "solve", "MPI_Recv"}, 88}}));
    const placed_rank other = moved.rank == 0 ? computes : receives;
    job.add(0, sample_of({moved, other, stays}), first_look + 20s);
    CHECK(*job.since() == first_look + 20s);
    // From now on, this is the place where the rank stands.
    job.add(0, sample_of({moved, other, stays}), first_look + 30s);
    job.add(0, sample_of({moved, other, stays}), first_look + 40s);
    CHECK(*job.since() == first_look + 20s);
  }
}

TEST_CASE("a rank that moves in one part of a job shows that the whole job moves") {
  stillness job(parts({"0", "9"}));
  placed_rank far = receives;
  far.rank = 9;
  job.add(0, sample_of({receives}), first_look);
  job.add(1, sample_of({far}), first_look + 1s);
  job.add(0, sample_of({receives}), first_look + 10s);
  CHECK(*job.since() == first_look);
  far.line = 21;
  job.add(1, sample_of({far}), first_look + 11s);
  CHECK(*job.since() == first_look + 11s);
  job.add(0, sample_of({receives}), first_look + 20s);
  job.add(1, sample_of({far}), first_look + 21s);
  CHECK(*job.since() == first_look + 11s);
  CHECK(job.described(first_look).in_calls.text() == "0,9");
}

TEST_CASE("a job in which every rank computes does not stand still") {
  stillness job(parts({"0-9"}));
  job.add(0, sample_of({computes}), first_look);
  job.add(0, sample_of({computes}), first_look + 1000s);
  CHECK_FALSE(job.since());
  CHECK(job.described(first_look).outside.text() == "1");
}

TEST_CASE("a rank in code of an MPI library that has no name waits in a call") {
  stillness job(parts({"0-9"}));
  group_stacks seen = sample_of({computes});
  thread_stack stack;
  for (const auto& [function, module] :
       {std::pair{"", "/lib/libmpich.so.12"}, {"wait_for_any", "/bin/app"}, {"main", "/bin/app"}}) {
    stack.frames.push_back({{}, std::make_shared<code_place>(code_place{function, "", 0, module, {}}), false});
  }
  seen.tree.add(entry_index{0}, stack);
  seen.taken.add(entry_index{0});
  job.add(0, seen, first_look);
  CHECK(job.described(first_look).in_calls.text() == "0");
  CHECK(job.described(first_look).outside.text() == "1");
  CHECK(job.since());
}

TEST_CASE("a rank that ends has moved") {
  stillness job(parts({"0-9"}));
  placed_rank other = receives;
  other.rank = 2;
  job.add(0, sample_of({receives, other}), first_look);
  job.add(0, sample_of({receives}), first_look + 10s);
  CHECK(*job.since() == first_look + 10s);
}

TEST_CASE("looks become more frequent when a job seems to stand still, within bounds") {
  CHECK(time_to_next_look(120s, 0s, 10s) == 10s);
  CHECK(time_to_next_look(60s, 0s, 10s) == 6s);
  CHECK(time_to_next_look(120s, 61s, 10s) == 3s);
  CHECK(time_to_next_look(24h, 0s, 10s) == 10s);
  CHECK(time_to_next_look(100ms, 0s, 10s) == 100ms);
  CHECK(looks_before_report(1) == 200);
  CHECK(looks_before_report(50) == 40);
  CHECK(looks_before_report(100'000) == 20);
}
