// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Ranks that wait for ever: cycles if all needs count, knots if one of several is enough.
#include <algorithm>
#include <random>
#include <set>

#include "catch.hpp"
#include "made_reports.hpp"
#include "needs.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

TEST_CASE("two ranks that each wait in a receive for the other") {
  const queue_waits found = made_job(2).receive(0, 1, 7).receive(1, 0, 7).in(0, "MPI_Recv").in(1, "MPI_Recv").waits();
  CHECK(text_of(found.waits) == "0>1 1>0");
  CHECK(text_of(found.deadlocks) == "0>1");
}

TEST_CASE("a ring is reported in its order, with the ranks that wait behind it") {
  made_job job(6);
  job.receive(0, 3, 1).receive(3, 1, 1).receive(1, 0, 1).receive(4, 1, 1).receive(5, 4, 1);
  for (const std::uint32_t rank : {0U, 1U, 3U, 4U, 5U}) job.in(rank, "MPI_Recv");
  CHECK(text_of(job.waits().deadlocks) == "0>3>1 (4-5)");
}

TEST_CASE("sends that no rank receives are a deadlock") {
  made_job job(2);
  job.send(0, 1, 1).send(1, 0, 2).in(0, "MPI_Ssend").in(1, "MPI_Send");
  CHECK(text_of(job.waits().deadlocks) == "0>1");
}

TEST_CASE("a rank that waits for itself is a deadlock") {
  CHECK(text_of(made_job(2).receive(1, 1, 1).in(1, "MPI_Recv").waits().deadlocks) == "1");
  CHECK(text_of(made_job(1).receive(0, any_source, 1).in(0, "MPI_Recv").waits().deadlocks) == "0");
}

TEST_CASE("a rank that waits for any source is stuck only if all sources are") {
  made_job job(3);
  job.receive(0, any_source, 1).receive(1, 0, 1);
  job.in(0, "MPI_Recv").in(1, "MPI_Recv");
  CHECK(job.waits().deadlocks.empty());
  job.receive(2, any_source, any_tag).in(2, "MPI_Recv");
  CHECK(text_of(job.waits().deadlocks) == "0,1,2");
}

TEST_CASE("MPI_Waitall usually needs all operations, so its deadlock is a possible one") {
  made_job job(3);
  job.receive(0, 1, 1).receive(0, 2, 1).receive(1, 0, 1).in(0, "MPI_Waitall").in(1, "MPI_Recv");
  CHECK(text_of(job.waits().deadlocks) == "0,1?");
  CHECK(text_of(job.in(0, "MPI_Waitany").waits().deadlocks).empty());
  CHECK(text_of(job.receive(2, 0, 1).in(2, "MPI_Recv").waits().deadlocks) == "0,1,2");
}

TEST_CASE("missing information makes a deadlock at most a possible one") {
  made_job job(2);
  job.receive(0, 1, 7).receive(1, 0, 7);
  CHECK(text_of(job.waits_without_stacks().deadlocks) == "0>1?");
  job.in(0, "MPI_Recv").in(1, "MPI_Recv").threads(1);
  CHECK(text_of(job.waits().deadlocks) == "0>1?");
  made_job quiet(2);
  quiet.receive(0, 1, 7).receive(1, 0, 7).in(0, "MPI_Recv").in(1, "MPI_Recv");
  quiet.communicator(0, 0).of(queue_class::sends).known = queue_knowledge::none;
  CHECK(text_of(quiet.waits().deadlocks) == "0>1?");
}

TEST_CASE("a rank that waits for a rank in MPI_Finalize waits for ever, and both are named") {
  made_job job(3);
  job.receive(0, 1, 7).in(0, "MPI_Recv").in(1, "MPI_Finalize").in(2, "main");
  const queue_waits found = job.waits();
  CHECK(text_of(found.deadlocks) == "0,1");
  REQUIRE(found.deadlocks.size() == 1);
  CHECK(found.deadlocks[0].in_finalize.text() == "1");
  CHECK(found.deadlocks[0].ended.empty());
  CHECK(!found.deadlocks[0].is_ring);
}

TEST_CASE("ranks behind a rank that waits for MPI_Finalize are stuck, in a receive, a send and a barrier") {
  made_job job(6);
  job.receive(0, 5, 7).in(0, "MPI_Recv").receive(1, 0, 7).in(1, "MPI_Recv");
  job.send(2, 4, 1).in(2, "MPI_Ssend").in(3, "MPI_Barrier").in(4, "MPI_Finalize").in(5, "MPI_Finalize");
  const queue_waits found = job.waits();
  CHECK(text_of(found.deadlocks) == "0,2,3,4,5 (1)");
  CHECK(found.deadlocks.at(0).in_finalize.text() == "4-5");
}

TEST_CASE("a message to or from a rank in MPI_Finalize that is on its way is no deadlock") {
  made_job job(3);
  job.receive(0, 1, 7).send(1, 0, 7).in(0, "MPI_Recv").in(1, "MPI_Finalize").in(2, "MPI_Finalize");
  CHECK(job.waits().deadlocks.empty());
  made_job quiet(3);
  for (const std::uint32_t rank : {0U, 1U, 2U}) quiet.in(rank, "MPI_Finalize");
  CHECK(quiet.waits().deadlocks.empty());
  CHECK(quiet.in(2, "main").waits().deadlocks.empty());
}

TEST_CASE("a receive from any source is stuck when all other ranks are in MPI_Finalize, and not before") {
  made_job job(3);
  job.receive(0, any_source, 7).in(0, "MPI_Recv").in(1, "MPI_Finalize").in(2, "main");
  CHECK(job.waits().deadlocks.empty());
  CHECK(text_of(job.in(2, "MPI_Finalize").waits().deadlocks) == "0,1,2");
  CHECK(text_of(job.receive(2, any_source, 7).in(2, "MPI_Recv").waits().deadlocks) == "0,1,2");
}

TEST_CASE("a possible wait for a rank in MPI_Finalize is reported once, as a possible deadlock") {
  made_job job(3);
  job.receive(0, 1, 7).receive(0, 2, 7).in(0, "MPI_Waitall").in(1, "MPI_Finalize").in(2, "main");
  const queue_waits found = job.waits();
  CHECK(text_of(found.deadlocks) == "0,1?");
  CHECK(found.deadlocks.at(0).in_finalize.text() == "1");
}

TEST_CASE("a rank that waits for an ended rank waits for ever") {
  made_job job(3);
  job.receive(0, 1, 7).in(0, "MPI_Recv").unreadable(1).in(2, "main");
  CHECK(job.waits().deadlocks.empty());
  const queue_waits found = job.ended(1).waits();
  CHECK(text_of(found.deadlocks) == "0,1");
  CHECK(found.deadlocks.at(0).ended.text() == "1");
  CHECK(found.deadlocks.at(0).in_finalize.empty());
  CHECK(text_of(job.in(2, "MPI_Barrier").waits().deadlocks) == "0,1,2");
}

TEST_CASE("a rank that a signal has stopped is in no deadlock, because what it waits for may have come") {
  made_job job(4);
  job.receive(0, 1, 7).receive(1, 0, 7).receive(2, 1, 7);
  for (const std::uint32_t rank : {0U, 1U, 2U}) job.in(rank, "MPI_Recv");
  CHECK(text_of(job.waits().deadlocks) == "0>1 (2)");
  job.stopped(1);
  const queue_waits found = job.waits();
  CHECK(found.deadlocks.empty());
  CHECK(text_of(found.waits) == "0>1 2>1");
  REQUIRE(found.doubts.size() == 1);
  CHECK(found.doubts.front() == "rank 1: stopped by a signal until SIGCONT, so their waits are not known");

  SECTION("nor in one that is only possible") {
    job.in(0, "MPI_Waitall").receive(0, 2, 7);
    CHECK(job.waits().deadlocks.empty());
  }
  SECTION("others are") {
    job.receive(2, 3, 8).receive(3, 2, 7).in(3, "MPI_Recv");
    job.communicator(2, 0)
        .of(queue_class::receives)
        .operations.erase(job.communicator(2, 0).of(queue_class::receives).operations.begin());
    CHECK(text_of(job.waits().deadlocks) == "2>3");
  }
  SECTION("in MPI_Finalize it will do nothing more, also when it continues") {
    job.communicator(1, 0).of(queue_class::receives).operations.clear();
    job.in(1, "MPI_Finalize");
    CHECK(text_of(job.waits().deadlocks) == "0,1,2");
  }
  SECTION("in a collective call it has come to the call") {
    made_job barrier(3);
    for (const std::uint32_t rank : {0U, 1U, 2U}) barrier.in(rank, "MPI_Barrier");
    CHECK(barrier.stopped(1).waits().waits.empty());
  }
}

TEST_CASE("deadlocks of a hundred thousand ranks are found, in a ring and with any source") {
  constexpr std::uint32_t size = 100'000;
  waits::needs ring;
  for (std::uint32_t i = 0; i < size; ++i) (void)ring.add();
  for (std::uint32_t i = 0; i < size; ++i) ring.need(i, (i + 1) % size);
  const auto knots = ring.knots_among(ring.stuck());
  REQUIRE(knots.all.size() == 1);
  CHECK(knots.all[0].size() == size);

  waits::needs chain;
  for (std::uint32_t i = 0; i < size; ++i) (void)chain.add();
  for (std::uint32_t i = 0; i + 1 < size; ++i) chain.need(i, i + 1);
  const auto stuck = chain.stuck();
  CHECK(std::count(stuck.begin(), stuck.end(), true) == 0);
}

TEST_CASE("the stuck ranks are those of a naive search, and the knots are the sets that reach themselves") {
  std::mt19937 random(11);  // NOLINT: the same numbers in every run
  const auto source = [&] { return static_cast<std::uint32_t>(random()); };
  for (int round = 0; round < 1000; ++round) {
    const std::uint32_t size = 1 + source() % 9;
    waits::needs graph;
    for (std::uint32_t i = 0; i < size; ++i) (void)graph.add();
    std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> all;
    for (std::uint32_t i = source() % 12; i > 0; --i) {
      std::vector<std::uint32_t> one_of;
      for (std::uint32_t j = 1 + source() % 3; j > 0; --j) one_of.push_back(source() % size);
      all.emplace_back(source() % size, one_of);
      graph.need(all.back().first, one_of);
    }
    std::set<std::uint32_t> goes;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t i = 0; i < size; ++i) {
        const bool free = std::all_of(all.begin(), all.end(), [&](const auto& need) {
          return need.first != i ||
                 std::any_of(need.second.begin(), need.second.end(), [&](std::uint32_t n) { return goes.contains(n); });
        });
        changed = (free && goes.insert(i).second) || changed;
      }
    }
    CAPTURE(round);
    const auto stuck = graph.stuck();
    for (std::uint32_t i = 0; i < size; ++i) CHECK(stuck[i] == !goes.contains(i));

    std::vector<std::set<std::uint32_t>> reach(size);
    for (std::uint32_t pass = 0; pass <= size; ++pass) {
      for (const auto& [who, one_of] : all) {
        const bool open = std::none_of(one_of.begin(), one_of.end(), [&](std::uint32_t n) { return goes.contains(n); });
        if (!open || goes.contains(who)) continue;
        for (const std::uint32_t n : one_of) {
          reach[who].insert(n);
          reach[who].insert(reach[n].begin(), reach[n].end());
        }
      }
    }
    const auto knots = graph.knots_among(stuck);
    for (std::uint32_t i = 0; i < size; ++i) {
      CHECK((knots.of[i] != waits::needs::knots::none) == !goes.contains(i));
      const bool in_one = knots.of[i] != waits::needs::knots::none &&
                          std::binary_search(knots.all[knots.of[i]].begin(), knots.all[knots.of[i]].end(), i);
      CHECK(in_one == reach[i].contains(i));
      for (std::uint32_t j = 0; j < size && in_one; ++j) {
        const auto& members = knots.all[knots.of[i]];
        CHECK(std::binary_search(members.begin(), members.end(), j) == (reach[i].contains(j) && reach[j].contains(i)));
      }
    }
  }
}
