// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The waits of ranks for other ranks: each test shows one rule.
#include "catch.hpp"
#include "made_reports.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

TEST_CASE("a rank waits if its call does") {
  for (const auto& [function, waits] : std::vector<std::pair<std::string, std::string>>{{"MPI_Recv", "0>1"},
                                                                                        {"MPI_Wait", "0>1"},
                                                                                        {"MPI_Waitall", "0>1"},
                                                                                        {"MPI_Sendrecv", "0>1"},
                                                                                        {"MPI_Send", ""},
                                                                                        {"MPI_Test", "0>1?"},
                                                                                        {"MPI_Probe", ""},
                                                                                        {"main", ""},
                                                                                        {"MPI_Comm_rank", ""}}) {
    CAPTURE(function);
    CHECK(text_of(made_job(2).receive(0, 1, 7).in(0, function).waits().waits) == waits);
  }
  CHECK(text_of(made_job(2).send(0, 1, 7).in(0, "MPI_Ssend").waits().waits) == "0>1");
  CHECK(text_of(made_job(2).send(0, 1, 7).in(0, "MPI_Recv").waits().waits).empty());
}

TEST_CASE("the reason of a wait is a sentence with the call, the tag and the communicator") {
  const auto receive = made_job(2).receive(0, 1, 7).in(0, "MPI_Recv").waits();
  CHECK(receive.waits.at(0).why == "in MPI_Recv: a receive with tag 7 on MPI_COMM_WORLD, and no send for it");
  const auto send = made_job(2).send(1, 0, 3).unreadable(0).in(1, "MPI_Ssend").waits();
  CHECK(send.waits.at(0).why == "in MPI_Ssend: a send with tag 3 on MPI_COMM_WORLD, its receives are not known");
  CHECK_FALSE(send.waits.at(0).certain);
  made_job unnamed(2);
  unnamed.add_communicator(0x1f, "", {0, 1});
  CHECK(unnamed.receive(0, any_source, any_tag, 1).receive(0, 1, 2, 1).in(0, "MPI_Waitany").waits().waits.at(0).why ==
        "in MPI_Waitany: one of 2 operations, the first a receive with tag 2 on communicator 0x1f");
  made_job placed(2);
  placed.receive(0, 1, 7).in(0, "MPI_Recv").at(0, "/src/solver.c", 88);
  CHECK(placed.waits().waits.at(0).why ==
        "in MPI_Recv at solver.c:88: a receive with tag 7 on MPI_COMM_WORLD, and no send for it");
}

TEST_CASE("no rank waits because of a message that is under way") {
  CHECK(made_job(2).receive(0, 1, 7).in(0, "MPI_Recv").send(1, 0, 7).in(1, "MPI_Ssend").waits().waits.empty());
  made_job matched(2);
  matched.receive(0, 1, 7).in(0, "MPI_Recv");
  matched.communicator(0, 0).of(queue_class::receives).operations[0].status = operation_status::matched;
  CHECK(matched.waits().waits.empty());
  CHECK(matched.waits().unpaired.empty());
  // The call may be in the one that comes.
  CHECK(text_of(made_job(3).receive(0, 1, 7).receive(0, 2, 7).in(0, "MPI_Wait").send(1, 0, 7).waits().waits) == "0>2?");
}

TEST_CASE("a receive that has all its data cannot end a wait, even if the library calls it matched") {
  made_job job(3);
  job.receive(0, 1, 7).receive(0, 2, 7).in(0, "MPI_Waitall");
  queue_operation& first = job.communicator(0, 0).of(queue_class::receives).operations.front();
  first.status = operation_status::matched;
  CHECK(text_of(job.waits().waits) == "0>2?");
  first.extra = {"Receive: 0x5581", "Data transfer completed"};  // as Open MPI's library says it
  CHECK(text_of(job.waits().waits) == "0>2");
}

TEST_CASE("some calls wait for one of several operations, others for all") {
  made_job one(3);
  one.receive(0, 1, 7).receive(0, 2, 7);
  for (const char* function : {"MPI_Recv", "MPI_Wait", "MPI_Waitany", "MPI_Waitsome"}) {
    CAPTURE(function);
    CHECK(text_of(one.in(0, function).waits().waits) == "0>any:1-2");
  }
  CHECK(text_of(one.in(0, "MPI_Waitall").waits().waits) == "0>1? 0>2?");
  CHECK(text_of(made_job(3).receive(0, 1, 7).send(0, 2, 7).in(0, "MPI_Sendrecv").waits().waits) == "0>1? 0>2?");
  CHECK(text_of(made_job(2).receive(0, 1, 7).send(0, 1, 7).in(0, "MPI_Sendrecv").waits().waits) == "0>1");
}

TEST_CASE("a receive from any source waits for any other member of the communicator") {
  CHECK(text_of(made_job(5).receive(2, any_source, 7).in(2, "MPI_Recv").waits().waits) == "2>any:0-1,3-4");
  made_job derived(5);
  derived.add_communicator(3, "d", {4, 2});
  CHECK(text_of(derived.receive(2, any_source, 7, 1).in(2, "MPI_Recv").waits().waits) == "2>any:4");
}

TEST_CASE("with unknown stacks or with other threads, waits are only possible") {
  CHECK(text_of(made_job(2).receive(0, 1, 7).waits_without_stacks().waits) == "0>1?");
  CHECK(says(made_job(2).waits_without_stacks().doubts, "ranks 0-1: their calls are not known"));
  const auto threaded = made_job(2).receive(0, 1, 7).in(0, "MPI_Recv").threads(0).waits();
  CHECK(text_of(threaded.waits) == "0>1?");
  CHECK(says(threaded.doubts, "rank 0: other threads"));
}

TEST_CASE("the operation that a call waits for may be in no queue") {
  CHECK(says(made_job(2).in(1, "MPI_Wait").waits().doubts,
             "rank 1: in a call that waits, and the queues list no operation"));
  CHECK(says(made_job(2).in(0, "MPI_Mprobe").waits().doubts, "rank 0: in MPI_Probe"));
}

TEST_CASE("a wait is certain only if every queue that its call depends on is known") {
  const auto in_wait = [](queue_class which, queue_knowledge known, const char* call) {
    made_job job(2);
    job.receive(0, 1, 7).in(0, call).in(1, "");
    job.communicator(0, 0).of(which).known = known;
    return text_of(job.waits().waits);
  };
  CHECK(in_wait(queue_class::sends, queue_knowledge::complete, "MPI_Wait") == "0>1");
  for (const auto known : {queue_knowledge::cut_short, queue_knowledge::failed}) {
    CHECK(in_wait(queue_class::sends, known, "MPI_Wait") == "0>1?");
    CHECK(in_wait(queue_class::receives, known, "MPI_Recv") == "0>1?");
  }
  // MPICH lists no sends unless it was configured to. MPI_Wait may have the request of a send; MPI_Recv has none.
  CHECK(in_wait(queue_class::sends, queue_knowledge::none, "MPI_Wait") == "0>1?");
  CHECK(in_wait(queue_class::sends, queue_knowledge::none, "MPI_Recv") == "0>1");
}

TEST_CASE("a rank in MPI_Mprobe waits for the probe that its queue lists, and for no other operation") {
  made_job job(3);
  job.receive(0, 1, 7).receive(0, 2, 9).in(0, "MPI_Mprobe");
  auto& receives = job.communicator(0, 0).of(queue_class::receives).operations;
  receives.back().extra = {"Unknown type of request 0x5581"};  // as Open MPI's library calls it
  const queue_waits found = job.waits();
  CHECK(text_of(found.waits) == "0>2");
  CHECK(found.waits.at(0).why == "in MPI_Mprobe: a probe with tag 9 on MPI_COMM_WORLD, and no send for it");
  CHECK_FALSE(says(found.doubts, "in MPI_Probe"));
  CHECK(text_of(job.in(0, "MPI_Waitall").waits().waits) == "0>1");
  CHECK(text_of(job.in(0, "MPI_Recv").waits().waits) == "0>1");
  // What MPI_Probe waits for is in no queue.
  receives.pop_back();
  CHECK(job.in(0, "MPI_Probe").waits().waits.empty());
}

TEST_CASE("ranks that were not looked at are named, and other ranks wait for them") {
  made_job job(4);
  job.receive(0, 3, 7).in(0, "MPI_Recv");
  job.ranks().resize(2);
  const queue_waits found = find_waits(job.ranks());
  CHECK(text_of(found.waits) == "0>3?");
  CHECK(says(found.doubts, "ranks 2-3: members of a communicator that were not looked at"));
}

TEST_CASE("numbers out of bounds and contradictory groups do no harm") {
  made_job job(3);
  job.add_communicator(4, "odd", {0, 1, 2});
  job.communicator(0, 1).local_rank = 7;
  job.communicator(1, 1).group = std::vector<std::int64_t>{-1, -1, 5'000'000'000};
  job.communicator(2, 1).size = -3;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    for (const std::int64_t peer : {std::int64_t{0}, std::int64_t{99}, std::int64_t{-7}, INT64_MAX, INT64_MIN}) {
      job.send(rank, peer, 1, 1).receive(rank, peer, 1, 1).receive(rank, peer, 1, 0);
    }
    job.receive(rank, any_source, any_tag, 1).in(rank, rank == 0 ? "MPI_Waitall" : "MPI_Recv");
  }
  const queue_waits found = job.waits();
  CHECK(found.deadlocks.size() <= 3);
  CHECK(!found.unpaired.empty());
  CHECK(find_waits({}).waits.empty());
}

TEST_CASE("a communicator's name selects its members, looked at or not") {
  made_job job(6);
  job.add_communicator(4, "evens", {0, 2, 4});
  job.add_communicator(4, "odds", {5, 1, 3});
  CHECK(ranks_of_communicator(job.ranks(), "evens").text() == "0,2,4");
  CHECK(ranks_of_communicator(job.ranks(), "MPI_COMM_WORLD").text() == "0-5");
  CHECK(ranks_of_communicator(job.ranks(), "none").empty());
  job.unreadable(1).unreadable(3);
  CHECK(ranks_of_communicator(job.ranks(), "odds").text() == "1,3,5");
}
