// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Collective calls with known arguments: the communicator, the root, and calls that do not belong together.
#include <algorithm>

#include "catch.hpp"
#include "made_calls.hpp"
#include "made_reports.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

mpi_argument root(std::int64_t rank) {
  return number(mpi_role::root, rank);
}

/// In calls on MPI_COMM_WORLD, without queues.
std::vector<rank_report> without_queues(const std::vector<std::pair<const char*, std::int64_t>>& calls) {
  std::vector<rank_report> ranks;
  for (std::uint32_t rank = 0; rank < calls.size(); ++rank) {
    const auto& [function, its_root] = calls[rank];
    std::vector<mpi_argument> arguments = {on_world()};
    if (its_root >= 0) arguments.push_back(root(its_root));
    ranks.push_back(in_call(rank, function, arguments));
  }
  return ranks;
}
/// The same with queues, all of them empty.
std::vector<rank_report> with_queues(const std::vector<std::pair<const char*, std::int64_t>>& calls) {
  made_job job(static_cast<std::uint32_t>(calls.size()));
  std::vector<rank_report> ranks = without_queues(calls);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) job.ranks()[rank].doing = ranks[rank].doing;
  return job.ranks();
}

}  // namespace

TEST_CASE("the argument of a collective call says on which of several communicators it is") {
  made_job job(2);
  job.add_communicator(5, "copy", {0, 1});
  const auto without = job.in(0, "MPI_Barrier").waits();
  CHECK(says(without.doubts, "rank 0: in MPI_Barrier, on which communicator is not known"));
  job.ranks()[0].doing = call("MPI_Barrier", {on_world()});
  job.ranks()[1].doing = call("MPI_Barrier", {on_another()});
  const auto found = job.waits();
  CHECK(found.doubts.empty());
  CHECK(text_of(found.waits) == "0>1 1>0");
  CHECK(found.waits.at(1).why == "in MPI_Barrier on copy, which it has not come to");
  CHECK(text_of(found.deadlocks) == "0>1");
  CHECK(found.deadlocks.at(0).mismatches.empty());
}

TEST_CASE("a communicator that the rank does not have is not believed") {
  made_job job(2);
  job.ranks()[0].doing = call("MPI_Barrier", {number(mpi_role::communicator, 1, "MPI_COMM_SELF")});
  // It has one communicator that the call may be on.
  CHECK(text_of(job.waits().waits) == "0>1");
}

TEST_CASE("the ranks of a broadcast wait for its root if the root is late, and else for those that are late") {
  for (const auto made : {with_queues, without_queues}) {
    CHECK(text_of(find_waits(made({{"MPI_Bcast", 2}, {"main", -1}, {"main", -1}, {"MPI_Bcast", 2}})).waits) ==
          "0>2? 3>2?");
    CHECK(text_of(find_waits(made({{"MPI_Barrier", -1}, {"MPI_Bcast", 0}, {"main", -1}, {"MPI_Bcast", 0}})).waits) ==
          (made == with_queues ? "0>1-3 1>2? 3>2?" : "0>1-3? 1>2? 3>2?"));
  }
}

TEST_CASE("the root of a reduction waits for the ranks that are late, and the others for the root") {
  for (const auto made : {with_queues, without_queues}) {
    const std::string barrier = made == with_queues ? "1>0,2" : "1>0,2?";
    CHECK(text_of(find_waits(made({{"MPI_Reduce", 0}, {"MPI_Barrier", -1}, {"main", -1}})).waits) == "0>2? " + barrier);
    CHECK(text_of(find_waits(made({{"main", -1}, {"MPI_Gather", 0}, {"main", -1}})).waits) == "1>0?");
  }
}

TEST_CASE("synchronising calls that differ are the error that they are") {
  const auto found =
      find_waits(with_queues({{"MPI_Barrier", -1}, {"MPI_Allreduce", -1}, {"MPI_Barrier", -1}, {"MPI_Barrier", -1}}));
  REQUIRE(found.deadlocks.size() == 1);
  REQUIRE(found.deadlocks.at(0).mismatches.size() == 1);
  const call_mismatch& error = found.deadlocks.at(0).mismatches.at(0);
  CHECK(error.certain);
  CHECK(error.sentence() ==
        "the collective calls on MPI_COMM_WORLD do not match: ranks 0,2-3 are in MPI_Barrier, "
        "rank 1 is in MPI_Allreduce");
  const auto likely = find_waits(without_queues({{"MPI_Barrier", -1}, {"MPI_Allreduce", -1}}));
  REQUIRE(likely.deadlocks.size() == 1);
  REQUIRE(likely.deadlocks.at(0).mismatches.size() == 1);
  CHECK_FALSE(likely.deadlocks.at(0).mismatches.at(0).certain);
}

TEST_CASE("broadcasts with different roots perhaps do not match") {
  for (const auto made : {with_queues, without_queues}) {
    const auto found = find_waits(made({{"MPI_Barrier", -1}, {"MPI_Bcast", 2}, {"MPI_Bcast", 1}, {"MPI_Barrier", -1}}));
    REQUIRE(found.deadlocks.size() == 1);
    REQUIRE(found.deadlocks.at(0).mismatches.size() == 1);
    const call_mismatch& error = found.deadlocks.at(0).mismatches.at(0);
    CHECK_FALSE(error.certain);
    CHECK(error.sentence() ==
          "the collective calls on MPI_COMM_WORLD do not match: rank 1 is in MPI_Bcast with root 2, "
          "rank 2 is in MPI_Bcast with root 1");
  }
}

TEST_CASE("ranks that have left a reduction and wait in the next barrier are no error") {
  made_job job(4);
  job.ranks()[0].doing = call("MPI_Reduce", {on_world(), root(0)});
  for (const std::uint32_t rank : {1U, 2U}) job.ranks()[rank].doing = call("MPI_Barrier", {on_world()});
  const auto found = job.receive(3, 0, 7).in(3, "MPI_Recv").waits();
  REQUIRE(found.deadlocks.size() == 1);
  CHECK(text_of(found.waits) == "0>3? 1>0,3 2>0,3 3>0");
  CHECK(found.deadlocks.at(0).mismatches.empty());
}

TEST_CASE("more roots than any program has are not told apart, so that the work stays in proportion to the ranks") {
  for (const auto made : {with_queues, without_queues}) {
    std::vector<std::pair<const char*, std::int64_t>> calls;
    for (std::int64_t rank = 0; rank < 40; ++rank) calls.emplace_back("MPI_Bcast", (rank + 1) % 40);
    const auto found = find_waits(made(calls));
    const auto told =
        std::count_if(found.waits.begin(), found.waits.end(), [](const rank_wait& one) { return one.to.count() == 1; });
    CHECK(told == 8);
    for (const deadlock& one : found.deadlocks) {
      for (const call_mismatch& each : one.mismatches) CHECK(each.calls.size() <= 9);
    }
  }
}
