// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Waits of ranks whose queues are not known: from the arguments of their calls, made up by hand.
#include <algorithm>

#include "made_calls.hpp"
#include "made_reports.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

rank_report receiver(std::uint32_t rank, std::int64_t source) {
  return in_call(rank, "MPI_Recv", {number(mpi_role::source, source), number(mpi_role::tag, 7), on_world()});
}
rank_report sender(std::uint32_t rank, std::int64_t destination) {
  return in_call(rank, "MPI_Ssend", {number(mpi_role::destination, destination), number(mpi_role::tag, 7), on_world()});
}

const rank_wait* wait_of(const queue_waits& found, std::uint32_t rank) {
  const auto at = std::find_if(found.waits.begin(), found.waits.end(),
                               [&](const rank_wait& one) { return one.from == entry_index{rank}; });
  return at == found.waits.end() ? nullptr : &*at;
}

}  // namespace

TEST_CASE("calls: receives that wait for each other are a likely deadlock, with the ranks behind them") {
  const std::vector<rank_report> ranks = {receiver(0, 1), receiver(1, 2), receiver(2, 0), receiver(3, 0)};
  const auto found = find_waits(ranks);
  REQUIRE(found.deadlocks.size() == 1);
  CHECK_FALSE(found.deadlocks.front().certain);
  CHECK(found.deadlocks.front().sentence() == "0 -> 1 -> 2 -> 0 wait for each other; 3 waits behind them");
  REQUIRE(wait_of(found, 0) != nullptr);
  CHECK(wait_of(found, 0)->to.text() == "1");
  CHECK(wait_of(found, 0)->why == "in MPI_Recv(source 1, tag 7, MPI_COMM_WORLD)");
  CHECK_FALSE(wait_of(found, 0)->certain);
}

TEST_CASE("calls: the sentence has the line of the call, and ranks with the same line have the same sentence") {
  std::vector<rank_report> ranks = {receiver(0, 3), receiver(1, 3), receiver(2, 3), in_call(3, "main", {})};
  ranks[0].doing.at = ranks[1].doing.at = {"solve", "/src/solver.c", 88};
  ranks[2].doing.at = {"solve", "", 0};
  const auto found = find_waits(ranks);
  REQUIRE(found.waits.size() == 3);
  CHECK(wait_of(found, 0)->why == "in MPI_Recv(source 3, tag 7, MPI_COMM_WORLD) at solver.c:88");
  CHECK(wait_of(found, 1)->why == wait_of(found, 0)->why);
  CHECK(wait_of(found, 2)->why == "in MPI_Recv(source 3, tag 7, MPI_COMM_WORLD), called by solve");
}

TEST_CASE("calls by site: ranks in one call at different lines are apart, and one gap covers all of them") {
  std::vector<rank_report> ranks = {in_call(0, "MPI_Barrier", {}), in_call(1, "MPI_Barrier", {}),
                                    in_call(2, "MPI_Barrier", {}), in_call(3, "MPI_Recv", {})};
  ranks[0].doing.at = ranks[2].doing.at = {"solve", "solver.c", 88};
  ranks[1].doing.at = {"solve", "solver.c", 90};
  const auto by_site = calls_by_site(ranks);
  REQUIRE(by_site.size() == 3);
  CHECK(by_site[0].ranks.text() == "0,2");
  CHECK(by_site[0].at.line == 88);
  CHECK(by_site[1].ranks.text() == "1");
  CHECK(by_site[1].at.line == 90);
  const auto calls = calls_of(ranks);
  REQUIRE(calls.size() == 2);
  CHECK(calls[0].ranks.text() == "0-2");
  CHECK_FALSE(calls[0].at.is_known());
  const auto gaps = collective_gaps(calls);
  REQUIRE(gaps.size() == 1);
  CHECK(gaps[0].in.text() == "0-2");
}

TEST_CASE("calls: a rank that computes is no part of a deadlock") {
  const std::vector<rank_report> ranks = {receiver(0, 1), sender(1, 2), in_call(2, "main", {})};
  const auto found = find_waits(ranks);
  CHECK(found.deadlocks.empty());
  CHECK(found.waits.size() == 2);
}

TEST_CASE("calls: a rank does not wait for MPI_PROC_NULL, for an unknown rank or on an unknown communicator") {
  const std::vector<rank_report> ranks = {
      in_call(0, "MPI_Recv", {number(mpi_role::source, -2, "MPI_PROC_NULL"), on_world()}),
      in_call(1, "MPI_Recv", {on_world()}),
      in_call(2, "MPI_Recv", {number(mpi_role::source, 0), number(mpi_role::communicator, 0x84000001)}),
      in_call(3, "MPI_Recv", {number(mpi_role::source, 0)}),
  };
  CHECK(find_waits(ranks).waits.empty());
}

TEST_CASE("calls: a receive from any source waits for any of the others, and is stuck only if all of them are") {
  const auto anybody = [](std::uint32_t rank) {
    return in_call(rank, "MPI_Recv", {number(mpi_role::source, -1, "MPI_ANY_SOURCE"), on_world()});
  };
  const auto stuck = find_waits(std::vector<rank_report>{anybody(0), anybody(1), receiver(2, 0)});
  REQUIRE(wait_of(stuck, 0) != nullptr);
  CHECK(wait_of(stuck, 0)->any_of);
  CHECK(wait_of(stuck, 0)->to.text() == "1-2");
  CHECK(stuck.deadlocks.size() == 1);
  CHECK(find_waits(std::vector<rank_report>{anybody(0), anybody(1), in_call(2, "main", {})}).deadlocks.empty());
}

TEST_CASE("calls: a collective call waits for the ranks that are in another one") {
  const std::vector<rank_report> ranks = {in_call(0, "MPI_Barrier", {on_world()}),
                                          in_call(1, "MPI_Allreduce", {on_world()}),
                                          in_call(2, "MPI_Barrier", {on_world()})};
  const auto found = find_waits(ranks);
  REQUIRE(wait_of(found, 0) != nullptr);
  CHECK(wait_of(found, 0)->to.text() == "1");
  CHECK(wait_of(found, 1)->to.text() == "0,2");
  REQUIRE(found.deadlocks.size() == 1);
  CHECK_FALSE(found.deadlocks.front().certain);
}

TEST_CASE("calls: a rank in the same collective call on an unknown communicator is not missing") {
  const std::vector<rank_report> ranks = {in_call(0, "MPI_Barrier", {on_world()}), in_call(1, "MPI_Barrier", {}),
                                          in_call(2, "MPI_Barrier", {number(mpi_role::communicator, 0x84000001)})};
  const auto found = find_waits(ranks);
  REQUIRE(wait_of(found, 0) != nullptr);
  CHECK(wait_of(found, 0)->to.text() == "2");
  CHECK(found.deadlocks.empty());
}

TEST_CASE("calls: a rank that waits for one in MPI_Finalize is likely to wait for ever") {
  const std::vector<rank_report> ranks = {receiver(0, 1), in_call(1, "MPI_Finalize", {})};
  const auto found = find_waits(ranks);
  REQUIRE(found.deadlocks.size() == 1);
  CHECK(found.deadlocks.front().in_finalize.text() == "1");
}

TEST_CASE("calls: ranks in MPI_Finalize wait for those that still compute") {
  const std::vector<rank_report> ranks = {in_call(0, "MPI_Finalize", {}), in_call(1, "main", {}),
                                          in_call(2, "MPI_Finalize", {})};
  const auto found = find_waits(ranks);
  CHECK(found.deadlocks.empty());
  REQUIRE(wait_of(found, 2) != nullptr);
  CHECK(wait_of(found, 2)->to.text() == "1");
  CHECK(wait_of(found, 2)->why == "in MPI_Finalize");
}

TEST_CASE("calls: an exchange waits for both of its peers, unless its message is so small that it leaves at once") {
  const auto exchange = [](std::int64_t count) {
    return in_call(0, "MPI_Sendrecv",
                   {number(mpi_role::send_count, count), number(mpi_role::send_type, 1, "MPI_INT"),
                    number(mpi_role::destination, 1), number(mpi_role::source, 2), on_world()});
  };
  const auto large = find_waits(std::vector<rank_report>{exchange(65), in_call(1, "main", {}), receiver(2, 0)});
  CHECK(large.waits.size() == 3);
  CHECK(large.deadlocks.size() == 1);
  const auto small = find_waits(std::vector<rank_report>{exchange(64), in_call(1, "main", {}), receiver(2, 0)});
  CHECK(small.waits.size() == 2);
  CHECK(wait_of(small, 0)->to.text() == "2");
}

TEST_CASE("calls: where the queues are not believed, the arguments count, and where they are listed, they do not") {
  const auto with_queues = [](queue_knowledge known) {
    std::vector<rank_report> ranks = {receiver(0, 1), receiver(1, 0)};
    for (rank_report& rank : ranks) {
      rank.report = queue_report{};
      queue_communicator& world = rank.report->communicators.emplace_back();
      world.name = "MPI_COMM_WORLD";
      world.size = 2;
      world.group = std::vector<std::int64_t>{0, 1};
      for (queue_listing& queue : world.queues) queue.known = known;
    }
    return ranks;
  };
  CHECK(find_waits(with_queues(queue_knowledge::failed)).deadlocks.size() == 1);
  CHECK(find_waits(with_queues(queue_knowledge::complete)).waits.empty());
}

TEST_CASE("calls: a probe is in no queue, so its arguments count where the queues are listed") {
  made_job job(2);
  for (const std::uint32_t rank : {0U, 1U}) {
    job.ranks()[rank].doing = call("MPI_Probe", {number(mpi_role::source, 1 - rank), on_world()});
  }
  const auto found = job.waits();
  CHECK(text_of(found.waits) == "0>1? 1>0?");
  REQUIRE(found.deadlocks.size() == 1);
  CHECK_FALSE(found.deadlocks.front().certain);
}
