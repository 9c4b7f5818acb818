// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Collective calls: the ranks that have entered, the missing ones, and the communicator.
#include "catch.hpp"
#include "made_reports.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

TEST_CASE("a barrier between two groups waits for the other group") {
  made_job job(4);
  for (auto& rank : job.ranks()) rank.report->communicators.clear();
  job.add_intercommunicator(9, {0, 1}, {2, 3});
  job.in(0, "MPI_Barrier").in(2, "MPI_Barrier");
  CHECK(text_of(job.waits().waits) == "0>3 2>1");
}

TEST_CASE("ranks in a barrier wait for the ranks that have not entered it") {
  made_job job(4);
  for (const std::uint32_t rank : {0U, 1U, 3U}) job.in(rank, "MPI_Barrier");
  const queue_waits found = job.waits();
  CHECK(text_of(found.waits) == "0>2 1>2 3>2");
  CHECK(found.waits.at(0).why == "in MPI_Barrier on MPI_COMM_WORLD, which it has not come to");
  CHECK(found.deadlocks.empty());
  job.at(0, "solver.c", 88).at(1, "", 0);
  CHECK(job.waits().waits.at(0).why == "in MPI_Barrier on MPI_COMM_WORLD at solver.c:88, which it has not come to");
  CHECK(job.waits().waits.at(1).why == "in MPI_Barrier on MPI_COMM_WORLD, called by solve, which it has not come to");
  CHECK(job.in(2, "MPI_Barrier").waits().waits.empty());
}

TEST_CASE("a broadcast may return before all ranks have entered it, so its wait is only possible") {
  CHECK(text_of(made_job(3).in(0, "MPI_Bcast").waits().waits) == "0>1-2?");
}

TEST_CASE("the library's own operations show which communicator a collective call is on") {
  made_job job(4);
  job.add_communicator(5, "pair", {0, 3});
  CHECK(says(made_job(job).in(0, "MPI_Barrier").waits().doubts, "rank 0: in MPI_Barrier, on which communicator"));
  job.receive(0, 1, -16, 1).in(0, "MPI_Barrier");
  CHECK(text_of(job.waits().waits) == "0>3");
  // One that is in the same call, on a communicator that is not known, may have come.
  CHECK(job.in(3, "MPI_Barrier").waits().waits.empty());
  job.send(3, 2, -16, 0);
  CHECK(text_of(job.waits().waits) == "0>3 3>0-2");
  CHECK(text_of(job.waits().deadlocks) == "0,3");
}

TEST_CASE("the communicator of a collective call is guessed if nothing shows it, and the wait is marked as a guess") {
  made_job job(4);
  job.add_communicator(5, "low", {0, 1});
  job.add_communicator(6, "high", {2, 3});
  for (const std::uint32_t rank : {0U, 1U, 2U}) job.in(rank, "MPI_Barrier");
  const queue_waits most = job.waits();
  CHECK(text_of(most.waits) == "0>3? 1>3? 2>3?");
  CHECK(most.waits.at(0).why == "in MPI_Barrier, perhaps on MPI_COMM_WORLD, which it has not come to");
  // Where all members of a communicator are in it, and no more of another one, nobody is missing.
  CHECK(job.in(2, "main").waits().waits.empty());
  CHECK(text_of(job.receive(3, 0, 7).in(3, "MPI_Recv").in(2, "MPI_Barrier").waits().deadlocks) == "0>3 (1-2)?");
}

TEST_CASE("different collective calls on one communicator never meet") {
  const queue_waits found = made_job(2).in(0, "MPI_Barrier").in(1, "MPI_Allreduce").waits();
  CHECK(text_of(found.waits) == "0>1 1>0");
  CHECK(text_of(found.deadlocks) == "0>1");
}

TEST_CASE("a barrier and a receive without a send together are a deadlock") {
  made_job job(4);
  for (const std::uint32_t rank : {0U, 1U, 2U}) job.in(rank, "MPI_Barrier");
  const queue_waits found = job.receive(3, 0, 7).in(3, "MPI_Recv").waits();
  CHECK(text_of(found.deadlocks) == "0>3 (1-2)");
}

TEST_CASE("ranks whose stacks were not read are not reported as missing from a collective call") {
  made_job job(3);
  job.in(0, "MPI_Barrier").unreadable(1);
  const queue_waits found = job.waits();
  CHECK(text_of(found.waits) == "0>2");
  CHECK(says(found.doubts, "rank 1: whether they have come to MPI_Barrier"));
}

TEST_CASE("MPI_Finalize is a collective call on the world") {
  made_job job(2);
  job.add_communicator(5, "", {0, 1});
  CHECK(text_of(job.receive(0, 1, 3).in(0, "MPI_Recv").in(1, "MPI_Finalize").waits().waits) == "0>1 1>0?");
}
