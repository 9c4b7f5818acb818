// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Waits in calls on communicators that the program has made, whose objects say which ranks have them.
#include <optional>
#include <utility>

#include "catch.hpp"
#include "made_calls.hpp"
#include "made_reports.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

called_communicator communicator(std::uint64_t id, const group_members& group, std::int64_t local_rank) {
  called_communicator made;
  made.facts.id = id;
  made.facts.size = static_cast<std::int64_t>(group.size());
  made.facts.local_rank = local_rank;
  made.facts.group = group;
  made.facts.is_inter = false;
  return made;
}
/// A rank without queues, in a call on a communicator that the program has made.
rank_report on(called_communicator made, std::uint32_t rank, const char* function,
               std::vector<mpi_argument> arguments = {}) {
  arguments.push_back(number(mpi_role::communicator, 0x7f0000001000 + rank * 4096));  // no two ranks have one address
  rank_report report = in_call(rank, function, std::move(arguments));
  report.doing.on = std::move(made);
  return report;
}
rank_report receiver(std::uint32_t rank, std::int64_t source, called_communicator made) {
  return on(std::move(made), rank, "MPI_Recv", {number(mpi_role::source, source), number(mpi_role::tag, 7)});
}
rank_report idle(std::uint32_t rank) {
  return in_call(rank, "main", {});
}

}  // namespace

TEST_CASE("called communicators: a receive waits for the rank of the communicator, not of the job") {
  const group_members pair{3, 2};
  const auto found = find_waits(std::vector<rank_report>{idle(0), idle(1), receiver(2, 0, communicator(5, pair, 1)),
                                                         receiver(3, 1, communicator(5, pair, 0))});
  CHECK(text_of(found.waits) == "2>3? 3>2?");
  CHECK(text_of(found.deadlocks) == "2>3?");
  CHECK(found.waits.at(0).why == "in MPI_Recv(source 0, tag 7, communicator 0x5)");
}

TEST_CASE("called communicators: a rank beyond the group, and one of another job, are not awaited") {
  const auto beyond =
      find_waits(std::vector<rank_report>{receiver(0, 2, communicator(5, {0, 1}, 0)), idle(1), idle(2)});
  CHECK(beyond.waits.empty());
  const auto foreign = find_waits(std::vector<rank_report>{receiver(0, 1, communicator(5, {0, -1}, 0)), idle(1)});
  CHECK(foreign.waits.empty());
}

TEST_CASE("called communicators: a receive on an intercommunicator waits for the other side") {
  const auto across = [](const group_members& here, const group_members& there, std::int64_t local_rank) {
    called_communicator made = communicator(6, here, local_rank);
    made.facts.is_inter = true;
    made.facts.remote_group = there;
    return made;
  };
  const group_members left{0, 1}, right{2, 3};
  std::vector<rank_report> ranks = {receiver(0, 0, across(left, right, 0)), receiver(1, 1, across(left, right, 1)),
                                    receiver(2, 0, across(right, left, 0)), receiver(3, 1, across(right, left, 1))};
  CHECK(text_of(find_waits(ranks).waits) == "0>2? 1>3? 2>0? 3>1?");
  for (rank_report& rank : ranks) rank.doing = call("MPI_Barrier", {}), rank.doing.on.reset();
  ranks[0] = on(across(left, right, 0), 0, "MPI_Barrier");
  ranks[2] = idle(2);
  CHECK(text_of(find_waits(ranks).waits) == "0>2?");
}

TEST_CASE("called communicators: a receive from any source waits for the members") {
  const auto anybody = [](std::uint32_t rank, std::int64_t local_rank) {
    return on(communicator(5, {1, 2, 3}, local_rank), rank, "MPI_Recv",
              {number(mpi_role::source, -1, "MPI_ANY_SOURCE")});
  };
  CHECK(text_of(find_waits(std::vector<rank_report>{idle(0), anybody(1, 0), idle(2), idle(3)}).waits) == "1>any:2-3?");
  const auto stuck = find_waits(std::vector<rank_report>{idle(0), anybody(1, 0), anybody(2, 1), anybody(3, 2)});
  CHECK(stuck.deadlocks.size() == 1);
  // The last member was not looked at: it may send.
  CHECK(find_waits(std::vector<rank_report>{idle(0), anybody(1, 0), anybody(2, 1)}).deadlocks.empty());
}

TEST_CASE("called communicators: halves with the same id are two, and each waits for its own members") {
  const group_members low{0, 1}, high{2, 3};
  const auto found = find_waits(std::vector<rank_report>{on(communicator(3, low, 0), 0, "MPI_Barrier"), idle(1),
                                                         on(communicator(3, high, 0), 2, "MPI_Barrier"), idle(3)});
  CHECK(text_of(found.waits) == "0>1? 2>3?");
  CHECK(found.waits.at(0).why == "in MPI_Barrier(communicator 0x3)");
}

TEST_CASE("called communicators: the same communicator of different ranks is one") {
  const group_members all{0, 1, 2};
  const auto found = find_waits(std::vector<rank_report>{on(communicator(3, all, 0), 0, "MPI_Barrier"),
                                                         on(communicator(3, all, 1), 1, "MPI_Barrier"),
                                                         on(communicator(4, all, 2), 2, "MPI_Barrier")});
  CHECK(text_of(found.waits) == "0>2? 1>2? 2>0-1?");
  CHECK(found.deadlocks.size() == 1);
}

TEST_CASE("called communicators: a rank in the same call on an unknown communicator is not missing") {
  const group_members all{0, 1, 2};
  const auto found = find_waits(std::vector<rank_report>{on(communicator(3, all, 0), 0, "MPI_Barrier"),
                                                         in_call(1, "MPI_Barrier", {on_another()}),
                                                         in_call(2, "MPI_Barrier", {on_world()})});
  CHECK(text_of(found.waits) == "0>2? 2>0-1?");
}

TEST_CASE("called communicators: the root of a broadcast is a rank of the communicator") {
  const group_members group{1, 3, 2};
  const auto bcast = [&](std::uint32_t rank, std::int64_t local_rank) {
    return on(communicator(3, group, local_rank), rank, "MPI_Bcast", {number(mpi_role::root, 1)});
  };
  const auto late = find_waits(std::vector<rank_report>{idle(0), bcast(1, 0), bcast(2, 2), idle(3)});
  CHECK(text_of(late.waits) == "1>3? 2>3?");
}

TEST_CASE("called communicators: two ranks that claim one place in a group are not believed") {
  const group_members pair{0, 1};
  const auto found = find_waits(std::vector<rank_report>{on(communicator(3, pair, 0), 0, "MPI_Barrier"),
                                                         on(communicator(3, pair, 0), 1, "MPI_Allreduce")});
  CHECK(found.waits.empty());
}

TEST_CASE("called communicators: the object tells which of the listed communicators a call is on") {
  made_job job(3);
  job.add_communicator(2, "", {0, 1, 2});
  for (const std::uint32_t rank : {0U, 1U}) {
    job.ranks()[rank].doing = call("MPI_Barrier", {on_another()});
    job.ranks()[rank].doing.on = communicator(2, {0, 1, 2}, rank);
  }
  job.ranks()[2].doing = call("MPI_Barrier", {on_world()});
  auto found = job.waits();
  CHECK(text_of(found.waits) == "0>2 1>2 2>0-1");
  CHECK(text_of(found.deadlocks).find('?') == std::string::npos);
  CHECK(found.doubts.empty());
  // Without the object, either of two such communicators may be the one.
  job.add_communicator(4, "", {0, 1, 2});
  CHECK(job.waits().doubts.empty());
  for (const std::uint32_t rank : {0U, 1U}) job.ranks()[rank].doing.on.reset();
  CHECK(says(job.waits().doubts, "in MPI_Barrier, on which communicator is not known"));
}

TEST_CASE("called communicators: a group that the library does not know leaves the listed communicator as it is") {
  made_job job(2);
  job.add_communicator(2, "both", {0, 1});
  job.ranks()[0].doing = call("MPI_Barrier", {on_another()});
  job.ranks()[0].doing.on = communicator(2, {0, 1}, 0);
  job.ranks()[0].doing.on->facts.group.reset();
  CHECK(text_of(job.waits().waits) == "0>1");
}

TEST_CASE("called communicators: a communicator that is in no report has no queues") {
  made_job job(2);
  job.ranks()[0].doing = call("MPI_Barrier", {on_another()});
  job.ranks()[0].doing.on = communicator(9, {0, 1}, 0);
  job.receive(1, 0, 7).in(1, "MPI_Recv");
  const auto found = job.waits();
  CHECK(text_of(found.waits) == "0>1 1>0");
}

TEST_CASE("called communicators: the ranks of a window may wait for those that are not in the call") {
  const auto fence = [](std::uint32_t rank, const group_members& group, std::int64_t local_rank) {
    rank_report report = in_call(rank, "MPI_Win_fence", {number(mpi_role::window, 0x1000 * (rank + 1))});
    report.doing.on = communicator(0, group, local_rank);
    report.doing.on->by = mpi_role::window;
    return report;
  };
  const group_members low{0, 1}, high{2, 3};
  std::vector<rank_report> ranks = {fence(0, low, 0), idle(1), fence(2, high, 0), fence(3, high, 1)};
  auto found = find_waits(ranks);
  CHECK(text_of(found.waits) == "0>1?");
  CHECK(found.waits.at(0).why == "in MPI_Win_fence(window of 2 ranks)");
  // A window is no communicator of the same ranks, whatever its number.
  ranks[1] = on(communicator(0, low, 1), 1, "MPI_Barrier");
  found = find_waits(ranks);
  CHECK(text_of(found.waits) == "0>1? 1>0?");
}

TEST_CASE("called communicators: a window of ranks with queues is named, and its calls are likely") {
  made_job job(3);
  for (const std::uint32_t rank : {0U, 1U}) {
    job.ranks()[rank].doing = call("MPI_Win_fence", {number(mpi_role::window, 0x1000)});
    job.ranks()[rank].doing.on = communicator(0, {0, 1, 2}, rank);
    job.ranks()[rank].doing.on->by = mpi_role::window;
  }
  job.receive(2, 0, 7).in(2, "MPI_Recv");
  const auto found = job.waits();
  CHECK(text_of(found.waits) == "0>2? 1>2? 2>0");
  CHECK(found.waits.at(0).why == "in MPI_Win_fence on a window, which it is not in");
  CHECK(found.doubts.empty());
}

TEST_CASE("called communicators: the ranks of a file may wait for those that are not in the call") {
  const auto resize = [](const char* function, std::uint32_t rank) {
    rank_report report = in_call(rank, function, {number(mpi_role::file, 0x1000 * (rank + 1))});
    report.doing.on = communicator(0, {0, 1, 2}, rank);
    report.doing.on->by = mpi_role::file;
    return report;
  };
  std::vector<rank_report> ranks = {resize("MPI_File_set_size", 0), resize("MPI_File_set_size", 1), idle(2)};
  CHECK(text_of(find_waits(ranks).waits) == "0>2? 1>2?");
  ranks[1].doing.on.reset();
  CHECK(text_of(find_waits(ranks).waits) == "0>2?");
  // Which half of a split operation waits is up to the MPI.
  CHECK(find_waits(std::vector<rank_report>{resize("MPI_File_read_all_begin", 0), idle(1), idle(2)}).waits.empty());

  made_job job(3);
  for (const std::uint32_t rank : {0U, 1U}) {
    job.ranks()[rank].doing = ranks[0].doing;
    job.ranks()[rank].doing.on = communicator(1, {0, 1, 2}, rank);  // the world, which the library lists
    job.ranks()[rank].doing.on->by = mpi_role::file;
  }
  job.receive(2, 0, 7).in(2, "MPI_Recv");
  const auto found = job.waits();
  CHECK(text_of(found.waits) == "0>2? 1>2? 2>0");
  CHECK(found.waits.at(0).why == "in MPI_File_set_size on MPI_COMM_WORLD, which it is not in");
}

TEST_CASE("called communicators: a rank in a neighbourhood collective call may wait for its neighbours only") {
  made_job job(6);
  job.add_communicator(2, "ring", {0, 1, 2, 3, 4, 5});
  for (const std::uint32_t rank : {0U, 1U, 2U, 3U, 4U, 5U}) {
    job.ranks()[rank].doing = call("MPI_Neighbor_alltoall", {on_another()});
    job.ranks()[rank].doing.on = communicator(2, {0, 1, 2, 3, 4, 5}, rank);
    job.ranks()[rank].doing.on->sources = {{(rank + 5) % 6, (rank + 1) % 6}};
  }
  job.receive(3, 0, 7).in(3, "MPI_Recv");
  CHECK(text_of(job.waits().waits) == "2>3? 3>0 4>3?");
  CHECK(job.waits().deadlocks.empty());
  // Without its neighbours, a rank may wait for any that is missing.
  job.ranks()[0].doing.on->sources.reset();
  CHECK(text_of(job.waits().waits) == "0>3? 2>3? 3>0 4>3?");
  // A number that is no rank of the communicator counts for nothing.
  job.ranks()[0].doing.on->sources = {{-1, 6}};
  CHECK(text_of(job.waits().waits) == "2>3? 3>0 4>3?");
}
