// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Waits of ranks whose requests say which rank is on the other side, without queues. The requests are made up by hand.
#include "catch.hpp"
#include "made_calls.hpp"
#include "made_reports.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

using purpose = mpi_request_kind;

pending_requests message(bool is_send, std::optional<std::uint32_t> peer, std::optional<std::int64_t> tag = 7) {
  return {purpose::point_to_point, false, 0, "MPI_COMM_WORLD", 1, request_message{is_send, peer, peer, tag}};
}
pending_requests receive(std::optional<std::uint32_t> peer, std::optional<std::int64_t> tag = 7) {
  return message(false, peer, tag);
}
pending_requests send(std::uint32_t peer, std::int64_t tag = 7) {
  return message(true, peer, tag);
}
rank_report waiting(std::uint32_t rank, const char* function, std::vector<pending_requests> all,
                    std::uint64_t unknown = 0) {
  rank_report made = in_call(rank, function, {});
  made.doing.requests = awaited_requests{std::move(all), 0, unknown};
  return made;
}

}  // namespace

TEST_CASE("messages: receives in a ring are perhaps a deadlock") {
  const std::vector ranks = {waiting(0, "MPI_Wait", {receive(1)}), waiting(1, "MPI_Waitall", {receive(2)}),
                             waiting(2, "MPI_Waitsome", {receive(0)})};
  const auto found = find_waits(ranks);
  CHECK(text_of(found.waits) == "0>1? 1>2? 2>0?");
  CHECK(text_of(found.deadlocks) == "0>1>2?");
  CHECK(found.waits.at(0).why == "in MPI_Wait: a receive with tag 7 on MPI_COMM_WORLD");
}

TEST_CASE("messages: MPI_Waitall needs each of its requests, and MPI_Waitany one of them") {
  std::vector ranks = {waiting(0, "MPI_Waitall", {receive(1), send(2)}), waiting(1, "MPI_Wait", {receive(0, 9)}),
                       in_call(2, "", {})};
  ranks[2].doing.kind = mpi_call_kind::none;
  auto found = find_waits(ranks);
  CHECK(text_of(found.waits) == "0>1? 0>2? 1>0?");
  CHECK(text_of(found.deadlocks) == "0,1?");
  ranks[0] = waiting(0, "MPI_Waitany", {receive(1), send(2)});
  found = find_waits(ranks);
  CHECK(text_of(found.waits) == "0>any:1-2? 1>0?");
  CHECK(found.deadlocks.empty());
  CHECK(found.waits.at(0).why ==
        "in MPI_Waitany: one of 2 operations, the first a receive with tag 7 on MPI_COMM_WORLD");
  ranks[2] = waiting(2, "MPI_Wait", {receive(1)});
  CHECK(text_of(find_waits(ranks).deadlocks) == "0,1,2?");
}

TEST_CASE("messages: a request that is not known may end MPI_Waitany") {
  std::vector ranks = {waiting(0, "MPI_Waitany", {receive(1)}, 1), waiting(1, "MPI_Wait", {receive(0)})};
  auto found = find_waits(ranks);
  CHECK(text_of(found.waits) == "0>1? 1>0?");
  CHECK(found.deadlocks.empty());
  CHECK(says(found.doubts, "rank 0: not all requests of the call are known"));
  ranks[0].doing.requests->unknown = 0;
  CHECK(text_of(find_waits(ranks).deadlocks) == "0>1?");
}

TEST_CASE("messages: two ranks whose message may be on its way are no deadlock") {
  std::vector ranks = {waiting(0, "MPI_Wait", {receive(1)}), waiting(1, "MPI_Wait", {send(0)})};
  CHECK(text_of(find_waits(ranks).waits) == "0>1? 1>0?");
  CHECK(find_waits(ranks).deadlocks.empty());
  ranks[1] = waiting(1, "MPI_Wait", {send(0, 8)});
  CHECK(text_of(find_waits(ranks).deadlocks) == "0>1?");
  ranks[0] = waiting(0, "MPI_Wait", {receive(1, std::nullopt)});
  CHECK(find_waits(ranks).deadlocks.empty());
  ranks[0] = waiting(0, "MPI_Wait", {receive(std::nullopt, 8)});
  CHECK(text_of(find_waits(ranks).waits) == "0>any:1? 1>0?");
  CHECK(find_waits(ranks).deadlocks.empty());
  ranks[0] = waiting(0, "MPI_Wait", {receive(1)});
  ranks[1] = in_call(1, "MPI_Send", {number(mpi_role::destination, 0), on_world()});
  CHECK(find_waits(ranks).deadlocks.empty());
}

TEST_CASE("messages: the sides of an intercommunicator may have different ids") {
  pending_requests begun = send(0), awaited = receive(1);
  for (pending_requests* one : {&begun, &awaited}) one->communicator_name.clear();
  begun.communicator = 480;
  awaited.communicator = 484;
  std::vector ranks = {waiting(0, "MPI_Wait", {awaited}), waiting(1, "MPI_Wait", {begun})};
  CHECK(text_of(find_waits(ranks).waits) == "0>1? 1>0?");
  CHECK(find_waits(ranks).waits.at(0).why == "in MPI_Wait: a receive with tag 7 on communicator 0x1e4");
  CHECK(find_waits(ranks).deadlocks.empty());
  ranks[1] = waiting(1, "MPI_Wait", {send(0)});
  CHECK(text_of(find_waits(ranks).deadlocks) == "0>1?");
}

TEST_CASE("messages: a receive from any source needs any other rank") {
  std::vector ranks = {waiting(0, "MPI_Wait", {receive(std::nullopt)}), waiting(1, "MPI_Wait", {receive(0)}),
                       waiting(2, "MPI_Wait", {receive(0, std::nullopt)})};
  const auto found = find_waits(ranks);
  CHECK(text_of(found.waits) == "0>any:1-2? 1>0? 2>0?");
  CHECK(found.waits.at(2).why == "in MPI_Wait: a receive with any tag on MPI_COMM_WORLD");
  CHECK(text_of(found.deadlocks) == "0,1,2?");
  ranks[2].doing = {mpi_call_kind::none, "", false};
  CHECK(find_waits(ranks).deadlocks.empty());
}

TEST_CASE("messages: a rank that was not looked at, and another thread of the rank itself, may do anything") {
  std::vector ranks = {waiting(0, "MPI_Wait", {receive(7)}), waiting(1, "MPI_Wait", {receive(1)})};
  CHECK(text_of(find_waits(ranks).waits) == "0>7? 1>1?");
  CHECK(text_of(find_waits(ranks).deadlocks) == "1?");
  ranks[1].doing.other_threads = true;
  CHECK(find_waits(ranks).deadlocks.empty());
}

TEST_CASE("messages: the queues of a rank say more than its requests") {
  made_job job(2);
  job.in(0, "MPI_Wait").receive(0, 1, 7);
  job.ranks()[0].doing.requests = awaited_requests{{receive(1)}, 0, 0};
  CHECK(text_of(job.waits().waits) == "0>1");
}

TEST_CASE("messages: a receive from any source is part of no deadlock if too many ranks send to look at each") {
  const auto job_with = [](std::uint32_t senders) {
    std::vector ranks = {waiting(0, "MPI_Wait", {receive(std::nullopt)})};
    for (std::uint32_t rank = 1; rank <= senders; ++rank) ranks.push_back(waiting(rank, "MPI_Wait", {send(0, 9)}));
    // Rank 0 waits for tag 8, and the others send messages with tag 9.
    ranks[0].doing.requests->pending[0].message->tag = 8;
    return ranks;
  };
  CHECK(find_waits(job_with(64)).deadlocks.size() == 1);
  const auto found = find_waits(job_with(65));
  CHECK(found.deadlocks.empty());
  CHECK(found.waits.front().to.text() == "1-65");
}

// With the square of the ranks, this would take hours.
TEST_CASE("messages: a hundred thousand ranks that wait for any source wait for each other") {
  constexpr std::uint32_t count = 100'000;
  std::vector<rank_report> ranks;
  ranks.reserve(count);
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    ranks.push_back(waiting(rank, "MPI_Wait", {receive(std::nullopt)}));
  }
  const auto found = find_waits(ranks);
  CHECK(found.waits.size() == count);
  REQUIRE(found.deadlocks.size() == 1);
  CHECK(found.deadlocks.front().ranks.size() == count);
}
