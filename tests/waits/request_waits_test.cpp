// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Waits of ranks whose calls wait for requests, with requests made up by hand.
#include <algorithm>

#include "catch.hpp"
#include "made_calls.hpp"
#include "made_reports.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

using purpose = mpi_request_kind;

constexpr std::uint64_t world = 1;  // the id that made_job gives to MPI_COMM_WORLD

pending_requests pending(purpose what, std::uint64_t on = world, std::uint64_t count = 1) {
  return {what, false, on, on == world ? "MPI_COMM_WORLD" : "", count};
}
/// The rank is in a call that waits for these requests.
void wait(made_job& job, std::uint32_t rank, const char* function, std::vector<pending_requests> all,
          std::uint64_t unknown = 0) {
  job.in(rank, function);
  job.ranks()[rank].doing.requests = awaited_requests{std::move(all), 0, unknown};
}
/// The queues of the ranks are not believed, and their communicators are known.
void hide_queues(made_job& job) {
  for (rank_report& rank : job.ranks()) {
    for (queue_communicator& one : rank.report->communicators) {
      for (queue_listing& queue : one.queues) queue.known = queue_knowledge::failed;
    }
  }
}

}  // namespace

TEST_CASE("requests: a rank may wait for the members that do not wait for a collective operation") {
  made_job job(4);
  for (const std::uint32_t rank : {0U, 1U, 2U}) wait(job, rank, "MPI_Wait", {pending(purpose::collective)});
  job.at(0, "/src/solver.c", 7);
  job.in(3, "MPI_Recv").receive(3, 0, 7);
  const auto found = job.waits();
  CHECK(text_of(found.waits) == "0>3? 1>3? 2>3? 3>0");
  CHECK(found.waits.at(0).why ==
        "in MPI_Wait at solver.c:7: a collective operation on MPI_COMM_WORLD, which it does not wait for");
  CHECK(text_of(found.deadlocks) == "0>3 (1-2)?");
  CHECK(found.doubts.empty());
}

TEST_CASE("requests: members that test for the operation, and those whose requests are not known, are not awaited") {
  made_job job(4);
  wait(job, 0, "MPI_Waitall", {pending(purpose::collective, world, 2)});
  wait(job, 1, "MPI_Test", {pending(purpose::collective)});
  wait(job, 2, "MPI_Waitall", {}, 3);
  wait(job, 3, "MPI_Wait", {pending(purpose::point_to_point)});
  const auto found = job.waits();
  CHECK(text_of(found.waits) == "0>3?");
  CHECK(found.waits.at(0).why ==
        "in MPI_Waitall: 2 collective operations on MPI_COMM_WORLD, which it does not wait for");
  CHECK(says(found.doubts, "rank 2: not all requests of the call are known"));
}

TEST_CASE("requests: a member that is in a later call is awaited only if all are") {
  made_job job(3);
  wait(job, 0, "MPI_Wait", {pending(purpose::collective)});
  job.in(1, "MPI_Barrier");
  CHECK(text_of(job.waits().waits) == "0>2? 1>0,2");
  wait(job, 2, "MPI_Wait", {pending(purpose::collective)});
  CHECK(text_of(job.waits().waits) == "0>1? 1>0,2 2>1?");
}

TEST_CASE("requests: a wait is for the members of the operation's own communicator") {
  made_job job(4);
  job.add_communicator(5, "half", {2, 3});
  wait(job, 2, "MPI_Wait", {pending(purpose::collective, 5)});
  const auto found = job.waits();
  CHECK(text_of(found.waits) == "2>3?");
  CHECK(found.waits.at(0).why == "in MPI_Wait: a collective operation on half, which it does not wait for");
  wait(job, 3, "MPI_Wait", {pending(purpose::collective)});
  CHECK(text_of(job.waits().waits) == "2>3? 3>0-2?");
}

TEST_CASE("requests: a communicator that the rank does not have shows no wait") {
  made_job job(2);
  wait(job, 0, "MPI_Wait", {pending(purpose::collective, 9)});
  const auto found = job.waits();
  CHECK(found.waits.empty());
  CHECK(says(found.doubts,
             "rank 0: in MPI_Wait for a collective operation, and which ranks can complete it is not known"));
}

TEST_CASE("requests: a call that waits for a collective operation does not wait for a receive that was begun before") {
  made_job job(2);
  job.receive(0, 1, 7);
  wait(job, 0, "MPI_Wait", {pending(purpose::collective)});
  wait(job, 1, "MPI_Wait", {pending(purpose::collective)});
  CHECK(job.waits().waits.empty());
  wait(job, 0, "MPI_Wait", {pending(purpose::point_to_point)});
  CHECK(text_of(job.waits().waits) == "0>1 1>0?");
}

TEST_CASE("requests: another request may end MPI_Waitany, so that there is no deadlock") {
  made_job job(2);
  job.receive(0, 1, 7).receive(1, 0, 7);
  wait(job, 0, "MPI_Waitany", {pending(purpose::point_to_point), pending(purpose::collective)});
  wait(job, 1, "MPI_Wait", {pending(purpose::point_to_point)});
  const auto found = job.waits();
  CHECK(text_of(found.waits) == "0>1? 0>1? 1>0");
  CHECK(found.deadlocks.empty());
  wait(job, 0, "MPI_Waitany", {pending(purpose::point_to_point)});
  CHECK(job.waits().deadlocks.size() == 1);
  wait(job, 0, "MPI_Waitany", {pending(purpose::collective)});
  REQUIRE(job.waits().deadlocks.size() == 1);
  CHECK_FALSE(job.waits().deadlocks.front().certain);
}

TEST_CASE("requests: MPI_Waitall waits for messages and for collective operations") {
  made_job job(3);
  job.receive(0, 1, 7);
  wait(job, 0, "MPI_Waitall", {pending(purpose::point_to_point), pending(purpose::collective)});
  wait(job, 1, "MPI_Wait", {pending(purpose::collective)});
  CHECK(text_of(job.waits().waits) == "0>1 0>2? 1>2?");
}

TEST_CASE("requests: without queues, the report says what a call waits for and names no rank") {
  made_job job(2);
  hide_queues(job);
  wait(job, 0, "MPI_Wait", {pending(purpose::point_to_point, 9)});
  wait(job, 1, "MPI_Waitall", {{purpose::file, false, std::nullopt, "", 1}, pending(purpose::generalized, 9, 2)});
  const auto found = job.waits();
  CHECK(found.waits.empty());
  CHECK(says(found.doubts, "rank 0: in MPI_Wait for a point-to-point operation, and which ranks can"));
  CHECK(says(found.doubts, "rank 1: in MPI_Waitall for an operation on a file, and which ranks"));
  CHECK(says(found.doubts, "rank 1: in MPI_Waitall for 2 requests that the program itself completes, and which"));
}

TEST_CASE("requests: without queues, any member of its communicator may complete a message") {
  made_job job(4);
  job.add_communicator(5, "half", {2, 3});
  job.add_communicator(6, "alone", {1});
  hide_queues(job);
  wait(job, 0, "MPI_Wait", {pending(purpose::point_to_point)});
  job.at(0, "/src/solver.c", 7);
  wait(job, 1, "MPI_Wait", {pending(purpose::point_to_point, 6)});
  wait(job, 2, "MPI_Waitall", {pending(purpose::point_to_point, 5, 2)});
  const auto found = job.waits();
  CHECK(text_of(found.waits) == "0>any:1-3? 2>any:3?");
  REQUIRE(found.waits.size() == 2);
  CHECK(found.waits[0].why ==
        "in MPI_Wait at solver.c:7: a point-to-point operation on MPI_COMM_WORLD, whose other rank is not known");
  CHECK(found.waits[1].why == "in MPI_Waitall: 2 point-to-point operations on half, whose other ranks are not known");
  CHECK(found.deadlocks.empty());
  CHECK(says(found.doubts, "rank 1: in MPI_Wait for a point-to-point operation on alone, and which ranks can"));
  CHECK_FALSE(says(found.doubts, "rank 0: in MPI_Wait"));
}

TEST_CASE("requests: without queues, a message is perhaps part of a deadlock if no other member is in a call for one") {
  made_job job(3);
  hide_queues(job);
  for (const std::uint32_t rank : {0U, 1U}) job.ranks()[rank].doing = call("MPI_Barrier", {on_world()});
  wait(job, 2, "MPI_Wait", {pending(purpose::point_to_point)});
  CHECK(text_of(job.waits().waits) == "0>2 1>2 2>any:0-1?");
  REQUIRE(job.waits().deadlocks.size() == 1);
  CHECK_FALSE(job.waits().deadlocks.front().certain);
  CHECK(job.waits().deadlocks.front().ranks.size() == 3);
  wait(job, 2, "MPI_Waitany", {pending(purpose::point_to_point), pending(purpose::generalized, 9)});
  CHECK(job.waits().deadlocks.empty());  // the program may end MPI_Waitany
  wait(job, 2, "MPI_Waitany", {pending(purpose::point_to_point, world, 2)});
  CHECK(job.waits().deadlocks.size() == 1);
  job.ranks().erase(job.ranks().begin());
  CHECK(job.waits().deadlocks.empty());  // rank 0 was not looked at
}

TEST_CASE("requests: without queues, ranks that wait for messages are no deadlock: the messages may be on their way") {
  made_job job(3);
  hide_queues(job);
  for (const std::uint32_t rank : {0U, 1U, 2U}) wait(job, rank, "MPI_Waitall", {pending(purpose::point_to_point)});
  CHECK(text_of(job.waits().waits) == "0>any:1-2? 1>any:0,2? 2>any:0-1?");
  CHECK(job.waits().deadlocks.empty());
  job.ranks()[2].doing = call("MPI_Barrier", {on_world()});
  CHECK(job.waits().deadlocks.empty());  // ranks 0 and 1 may exchange a message
  job.ranks()[1].doing = call("MPI_Recv", {number(mpi_role::source, 0), number(mpi_role::tag, 7), on_world()});
  CHECK(job.waits().deadlocks.empty());  // rank 0 may send it
}

TEST_CASE("requests: a message on an intercommunicator is with the other side") {
  made_job job(4);
  job.add_intercommunicator(6, {0, 1}, {2, 3});
  hide_queues(job);
  wait(job, 0, "MPI_Wait", {pending(purpose::point_to_point, 6)});
  CHECK(text_of(job.waits().waits) == "0>any:2-3?");
}

TEST_CASE("requests: without queues a collective operation shows the ranks that are elsewhere") {
  made_job job(3);
  hide_queues(job);
  for (const std::uint32_t rank : {0U, 1U}) wait(job, rank, "MPI_Wait", {pending(purpose::collective)});
  job.ranks()[2].doing = call("MPI_Recv", {number(mpi_role::source, 0), number(mpi_role::tag, 7), on_world()});
  const auto found = job.waits();
  CHECK(text_of(found.waits) == "0>2? 1>2? 2>0?");
  CHECK(text_of(found.deadlocks) == "0>2 (1)?");
}

TEST_CASE("requests: an operation on an intercommunicator waits for the other side") {
  made_job job(4);
  job.add_intercommunicator(6, {0, 1}, {2, 3});
  wait(job, 0, "MPI_Wait", {pending(purpose::collective, 6)});
  CHECK(text_of(job.waits().waits) == "0>2-3?");
  wait(job, 3, "MPI_Wait", {pending(purpose::collective, 6)});
  CHECK(text_of(job.waits().waits) == "0>2? 3>1?");
}
