// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The one sentence that says why a job stands still.
#include "mpiacq/queues/verdict.hpp"

#include <fmt/format.h>

#include "catch.hpp"
#include "made_calls.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

constexpr std::uint32_t ranks_in_all = 4;

/// Ranks in MPI_Barrier at one line, except rank 3, which computes.
std::vector<rank_report> barrier_without_rank_3() {
  std::vector<rank_report> ranks;
  for (std::uint32_t rank = 0; rank < ranks_in_all; ++rank) {
    ranks.push_back(in_call(rank, "MPI_Barrier", {on_world()}));
    ranks.back().doing.at = {"main", "/src/app.c", 30};
  }
  ranks.back().doing = {mpi_call_kind::none, {}, false, {}, {"solve", "/src/solver.c", 88}};
  return ranks;
}

rank_wait wait_of(std::uint32_t from, const rank_set& to, bool certain = true) {
  return {entry_index{from}, to, false, certain, fmt::format("in MPI_Recv at app.c:{}", 10 + from)};
}

}  // namespace

TEST_CASE("a verdict names the ranks that others wait for, and where they are") {
  const auto ranks = barrier_without_rank_3();
  queue_waits found;
  for (std::uint32_t rank = 0; rank < 3; ++rank) found.waits.push_back(wait_of(rank, rank_set(3U)));
  const verdict given = find_verdict(found, ranks);
  CHECK(given.basis == verdict_basis::wait);
  CHECK(given.sentence == "ranks 0-2 wait for rank 3, which is in no MPI call, at solver.c:88");
  CHECK(given.ranks.text() == "3");

  SECTION("a chain of waits leads to the rank that waits for nobody") {
    found.waits = {wait_of(0, rank_set(1U)), wait_of(1, rank_set(2U)), wait_of(2, rank_set(3U))};
    CHECK(find_verdict(found, ranks).sentence == given.sentence);
  }
  SECTION("one wait that is not certain makes the sentence uncertain") {
    found.waits.back().certain = false;
    CHECK(find_verdict(found, ranks).sentence ==
          "ranks 0-2 may wait for rank 3, which is in no MPI call, at solver.c:88");
  }
  SECTION("a rank that may wait for one of the others is the one that they wait for") {
    auto polling = ranks;
    polling.back().doing = {mpi_call_kind::test, "MPI_Test", false, {}, {"poll", "/src/solver.c", 90}};
    found.waits.push_back(wait_of(3, rank_set(0U), false));
    const verdict polls = find_verdict(found, polling);
    CHECK(polls.sentence == "ranks 0-2 wait for rank 3, which is in MPI_Test at solver.c:90");
    CHECK(polls.ranks.text() == "3");
  }
  SECTION("a rank without a report has a call that is not known") {
    const auto known = std::span(ranks).first(3);
    CHECK(find_verdict(found, known).sentence == "ranks 0-2 wait for rank 3, whose calls are not known");
  }
  SECTION("many places are cut short") {
    std::vector<rank_report> many = ranks;
    rank_set all;
    for (std::uint32_t rank = 3; rank < 9; ++rank) {
      many.push_back(many[3]);
      many.back().entry = entry_index{rank + 1};
      many.back().doing.at.line = rank + 1;
      all.add(rank + 1);
    }
    found.waits = {wait_of(0, all)};
    CHECK(find_verdict(found, many).sentence ==
          "rank 0 waits for rank 4, which is in no MPI call, at solver.c:4, rank 5, which is in no MPI call, at "
          "solver.c:5, rank 6, which is in no MPI call, at solver.c:6, and 3 more places");
  }
}

TEST_CASE("a verdict on a deadlock names its ranks and the line of the first one") {
  const auto ranks = barrier_without_rank_3();
  queue_waits found;
  found.waits = {wait_of(0, rank_set(1U)), wait_of(1, rank_set(0U))};
  found.deadlocks.push_back({{entry_index{0}, entry_index{1}}, true, {}});
  CHECK(find_verdict(found, ranks).basis == verdict_basis::deadlock);
  CHECK(find_verdict(found, ranks).sentence ==
        "deadlock: 0 -> 1 -> 0 wait for each other; rank 0 waits for rank 1: in MPI_Recv at app.c:10");
  CHECK(find_verdict(found, ranks).ranks.text() == "0-1");

  found.deadlocks.front().certain = false;
  CHECK(find_verdict(found, ranks).basis == verdict_basis::possible_deadlock);
  CHECK(find_verdict(found, ranks).sentence.starts_with("perhaps a deadlock: 0 -> 1 -> 0"));

  // What is certain comes before what is not.
  found.mismatches.push_back({"MPI_COMM_WORLD", {{"MPI_Bcast", rank_set(2U)}, {"MPI_Reduce", rank_set(3U)}}});
  CHECK(find_verdict(found, ranks).basis == verdict_basis::mismatch);
  CHECK(find_verdict(found, ranks).ranks.text() == "2-3");
  found.mismatches.front().certain = false;
  CHECK(find_verdict(found, ranks).basis == verdict_basis::possible_deadlock);
  found.deadlocks.clear();
  CHECK(find_verdict(found, ranks).sentence ==
        "perhaps the collective calls on MPI_COMM_WORLD do not match: rank 2 is in MPI_Bcast, rank 3 is in MPI_Reduce");
}

TEST_CASE("a verdict without a reason names the ranks that could not be looked at, and why") {
  auto ranks = barrier_without_rank_3();
  ranks[1].report = ranks[3].report = fail(error_code::busy, "gdb traces it");
  ranks[2].report = queue_report{};
  ranks[0].report = fail(error_code::process_gone, "it has ended");
  for (auto& rank : ranks) rank.doing = {};
  ranks[0].doing.kind = mpi_call_kind::ended;
  const verdict given = find_verdict({}, ranks);
  CHECK(given.basis == verdict_basis::nothing);
  CHECK(given.sentence == "no rank is known to wait for another, but ranks 1,3 could not be looked at: gdb traces it");
  CHECK(given.ranks.text() == "1,3");

  SECTION("for several reasons") {
    ranks[2].report = fail(error_code::timed_out, "it does not stop");
    CHECK(find_verdict({}, ranks).sentence ==
          "no rank is known to wait for another, but ranks 1-3 could not be looked at; rank 1: gdb traces it");
  }
}

TEST_CASE("a verdict on ranks that a signal has stopped names them, where they are, and the ranks that wait for them") {
  auto ranks = barrier_without_rank_3();
  ranks[3].stopped_by_signal = true;
  queue_waits found;
  for (std::uint32_t rank = 0; rank < 3; ++rank) found.waits.push_back(wait_of(rank, rank_set(3U)));
  const verdict given = find_verdict(found, ranks);
  CHECK(given.basis == verdict_basis::stopped);
  CHECK(name(given.basis) == "stopped");
  CHECK(given.ranks.text() == "3");
  CHECK(given.sentence ==
        "a signal has stopped rank 3 in no MPI call, at solver.c:88: only SIGCONT lets it continue; ranks 0-2 wait for "
        "it");

  SECTION("nobody is known to wait for them") {
    ranks[1].stopped_by_signal = true;
    CHECK(find_verdict({}, ranks).sentence ==
          "a signal has stopped rank 1 in MPI_Barrier at app.c:30, and rank 3 in no MPI call, at solver.c:88: only "
          "SIGCONT "
          "lets them continue");
  }
  SECTION("a wait that is not certain") {
    found.waits.erase(found.waits.begin(), found.waits.begin() + 2);
    found.waits.front().certain = false;
    CHECK(find_verdict(found, ranks).sentence.ends_with("; rank 2 may wait for it"));
  }
  SECTION("a deadlock of other ranks is told first if it is certain, and only then") {
    found.deadlocks.emplace_back().ranks = {entry_index{0}, entry_index{1}};
    CHECK(find_verdict(found, ranks).basis == verdict_basis::deadlock);
    found.deadlocks.front().certain = false;
    CHECK(find_verdict(found, ranks).basis == verdict_basis::stopped);
  }
}

TEST_CASE("a verdict on a rank that waits for itself says so once") {
  queue_waits found;
  found.waits = {wait_of(2, rank_set(2U))};
  found.deadlocks.push_back({{entry_index{2}}, true, {}});
  CHECK(find_verdict(found, {}).sentence == "deadlock: rank 2 waits for itself; it is in MPI_Recv at app.c:12");
}

TEST_CASE("a verdict without waits names the ranks that are elsewhere than most") {
  const auto ranks = barrier_without_rank_3();
  const verdict given = find_verdict({}, ranks);
  CHECK(given.basis == verdict_basis::odd_ranks);
  CHECK(given.sentence == "most ranks are in MPI_Barrier, but not rank 3, which is in no MPI call, at solver.c:88");
  CHECK(given.ranks.text() == "3");

  const verdict none = find_verdict({}, std::span(ranks).first(3));
  CHECK(none.basis == verdict_basis::nothing);
  CHECK(none.sentence == "no rank is known to wait for another; ranks 0-2 are in MPI_Barrier at app.c:30");
  CHECK(none.ranks.empty());
  CHECK(find_verdict({}, {}).basis == verdict_basis::nothing);
}

TEST_CASE("if no rank is known to wait, the verdict says where the ranks are") {
  std::vector<rank_report> ranks;
  for (std::uint32_t rank = 0; rank < 6; ++rank) {
    ranks.push_back(in_call(rank, rank % 2 == 0 ? "MPI_Wait" : "MPI_Win_lock", {}));
    ranks.back().doing.at = {"main", "/src/app.c", rank % 2 == 0 ? 5U : 9U};
  }
  CHECK(find_verdict({}, ranks).sentence ==
        "no rank is known to wait for another; "
        "ranks 0,2,4 are in MPI_Wait at app.c:5, and ranks 1,3,5 are in MPI_Win_lock at app.c:9");
  ranks[3].doing = {};
  ranks[3].report = queue_report{};
  ranks[4].doing.kind = mpi_call_kind::ended;
  ranks[5].doing = {mpi_call_kind::none, {}, false, {}, {"solve", "/src/solver.c", 88}};
  CHECK(find_verdict({}, std::span(ranks).subspan(2)).sentence ==
        "no rank is known to wait for another; "
        "rank 2 is in MPI_Wait at app.c:5, rank 4 has ended, and rank 5 is in no MPI call, at solver.c:88");
  CHECK(find_verdict({}, std::span(ranks).subspan(3, 1)).sentence == "no rank is known to wait for another");
}

TEST_CASE("ranks that wait in a circle without a deadlock give the first wait") {
  queue_waits found;
  found.waits = {wait_of(0, rank_set(1U), false), wait_of(1, rank_set(0U), false)};
  const verdict given = find_verdict(found, {});
  CHECK(given.basis == verdict_basis::wait);
  CHECK(given.sentence == "rank 0 may wait for rank 1: in MPI_Recv at app.c:10");
}
