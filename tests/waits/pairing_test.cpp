// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Sends and receives across ranks, held against a naive matching.
#include <chrono>
#include <random>
#include <set>
#include <tuple>

#include "catch.hpp"
#include "made_reports.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

using place = std::tuple<std::uint32_t, std::uint32_t, int, std::uint32_t>;
place of(const operation_place& at) {
  return {at.rank, at.communicator, static_cast<int>(at.queue), at.operation};
}
using pairs = std::set<std::pair<place, place>>;
pairs of(const std::vector<operation_pair>& found) {
  pairs all;
  for (const operation_pair& pair : found) all.insert({of(pair.send), of(pair.receive)});
  return all;
}

/// MPI's rule said the other way round: each message, by sender and in its order, goes to the first receive that fits.
/// `place` is that of the communicator in every rank.
void match_naively(made_job& job, std::uint32_t where, pairs& all) {
  const auto ranks_in_order = *job.communicator(0, where).group;
  std::set<place> taken;
  for (std::size_t local = 0; local < ranks_in_order.size(); ++local) {
    const auto from = static_cast<std::uint32_t>(ranks_in_order[local]);
    const auto& sends = job.communicator(from, where).of(queue_class::sends).operations;
    for (std::uint32_t s = 0; s < sends.size(); ++s) {
      const auto target = static_cast<std::uint32_t>(ranks_in_order[static_cast<std::size_t>(*sends[s].desired.local)]);
      const auto& receives = job.communicator(target, where).of(queue_class::receives).operations;
      for (std::uint32_t r = 0; r < receives.size(); ++r) {
        const place at{target, where, 1, r};
        const auto source = receives[r].desired;
        const bool fits = (source.any || source.local == static_cast<std::int64_t>(local)) &&
                          (!receives[r].tag || receives[r].tag == sends[s].tag);
        if (!fits || !taken.insert(at).second) continue;
        all.insert({place{from, where, 0, s}, at});
        break;
      }
    }
  }
}

pairs matched_naively(made_job& job) {
  pairs all;
  for (const std::uint32_t where : {0U, 1U}) match_naively(job, where, all);
  return all;
}

}  // namespace

TEST_CASE("wildcard receives take the first message, and leave the others to the receives that name them") {
  made_job job(3);
  job.send(0, 1, 7).send(0, 1, 5).send(2, 1, 5);
  job.receive(1, 0, 5).receive(1, 0, any_tag).receive(1, any_source, 9).receive(1, any_source, any_tag);
  const queue_waits found = job.waits();
  CHECK(of(found.pairs) ==
        pairs{{{0, 0, 0, 1}, {1, 0, 1, 0}}, {{0, 0, 0, 0}, {1, 0, 1, 1}}, {{2, 0, 0, 0}, {1, 0, 1, 3}}});
  REQUIRE(found.unpaired.size() == 1);
  CHECK(found.unpaired[0].where == operation_place{1, 0, queue_class::receives, 2});
  CHECK(found.unpaired[0].unmatched);
}

TEST_CASE("if several ranks could send, the pair is marked as one of several choices") {
  made_job job(3);
  job.send(0, 2, 1).send(1, 2, 1).receive(2, any_source, 1).receive(2, any_source, any_tag);
  const queue_waits found = job.waits();
  REQUIRE(found.pairs.size() == 2);
  CHECK_FALSE(found.pairs[0].only_choice);
  CHECK(found.pairs[1].only_choice);
}

TEST_CASE("operations of different communicators never meet") {
  made_job job(4);
  job.add_communicator(5, "half", {0, 1});
  job.add_communicator(5, "half", {2, 3});  // the same id in groups without a common member
  job.add_communicator(6, "turned", {3, 2, 1, 0});
  job.send(0, 1, 1, 1).receive(1, 0, 1, 1);
  job.send(2, 1, 1, 1);
  job.send(3, 1, 1, 2).receive(2, 0, 1, 2);  // ranks 0 and 1 of the turned one
  job.send(0, 1, 2, 0).receive(1, 0, 2, 1);
  const queue_waits found = job.waits();
  CHECK(of(found.pairs) == pairs{{{0, 1, 0, 0}, {1, 1, 1, 0}}, {{3, 2, 0, 0}, {2, 2, 1, 0}}});
  CHECK(found.unpaired.size() == 3);
  for (const auto& single : found.unpaired) CHECK(single.unmatched);
}

TEST_CASE("an intercommunicator is recognised by a rank beyond its group") {
  made_job job(5);
  job.add_communicator(9, "", {0, 1});
  job.add_communicator(9, "", {2, 3, 4});
  job.send(0, 2, 4, 1).receive(4, 0, 4, 1);
  job.receive(1, 1, 4, 1);
  const queue_waits found = job.in(1, "MPI_Recv").waits();
  CHECK(of(found.pairs) == pairs{{{0, 1, 0, 0}, {4, 1, 1, 0}}});
  CHECK(text_of(found.waits) == "1>3");
}

TEST_CASE("an intercommunicator's ranks are those of the other group, also if both groups have the same size") {
  made_job job(5);
  job.add_intercommunicator(9, {0, 1}, {2, 3});
  job.send(0, 1, 4, 1).receive(3, 0, 4, 1);
  job.receive(1, 1, 5, 1).in(1, "MPI_Recv");
  job.receive(2, any_source, 6, 1).in(2, "MPI_Recv");
  const queue_waits found = job.waits();
  CHECK(of(found.pairs) == pairs{{{0, 1, 0, 0}, {3, 1, 1, 0}}});
  CHECK(text_of(found.waits) == "1>3 2>any:0-1");
  CHECK(found.doubts.empty());
  CHECK(ranks_of_communicator(job.ranks(), "between").text() == "0-3");
}

TEST_CASE("an intercommunicator's other group is known even if none of its ranks was read") {
  made_job job(4);
  job.add_intercommunicator(9, {0, 1}, {2, 3});
  job.unreadable(2).unreadable(3);
  job.receive(1, 1, 5, 1).in(1, "MPI_Recv");
  const queue_waits found = job.waits();
  CHECK(text_of(found.waits) == "1>3?");
  REQUIRE(found.unpaired.size() == 1);
  CHECK_FALSE(found.unpaired[0].unmatched);
}

TEST_CASE("an intercommunicator whose other group is unknown causes no wait") {
  made_job job(5);
  job.add_intercommunicator(9, {0, 1}, {2, 3}, false);
  job.add_communicator(9, "", {4});  // as it may be: the id alone does not tell which one it is
  job.send(0, 1, 4, 1).receive(1, 0, 4, 1).receive(3, 0, 4, 1);
  job.receive(1, any_source, 5, 1);
  for (const std::uint32_t rank : {0U, 1U, 3U}) job.in(rank, "MPI_Recv");
  const queue_waits found = job.waits();
  CHECK(found.pairs.empty());
  CHECK(found.waits.empty());
  CHECK(found.deadlocks.empty());
  for (const auto& single : found.unpaired) CHECK_FALSE(single.unmatched);
  CHECK(says(found.doubts, "an intercommunicator whose other group is not known"));
}

TEST_CASE("two groups with the same id and a common member are not the two groups of an intercommunicator") {
  made_job job(3);
  job.add_communicator(9, "", {0, 1});
  job.add_communicator(9, "", {1, 2});
  job.send(0, 2, 4, 1).in(0, "MPI_Send");
  const queue_waits found = job.waits();
  CHECK(found.waits.empty());
  CHECK(says(found.doubts, "an intercommunicator whose other group is not known"));
}

TEST_CASE("without groups, communicators are matched by name and size, and ambiguous ones are not paired") {
  made_job job(4);
  job.add_communicator(5, "rows", {0, 1}, false);
  job.add_communicator(5, "columns", {2, 3}, false);
  job.send(0, 1, 1, 1).receive(1, 0, 1, 1);
  job.send(2, 1, 1, 1).receive(3, 0, 1, 1);
  CHECK(job.waits().pairs.size() == 2);
  CHECK(job.waits().doubts.empty());

  made_job doubtful(4);
  doubtful.add_communicator(5, "half", {0, 1}, false);
  doubtful.add_communicator(5, "half", {2, 3}, false);
  doubtful.send(0, 1, 1, 1).receive(1, 0, 1, 1);
  const queue_waits found = doubtful.in(1, "MPI_Recv").waits();
  CHECK(found.pairs.empty());
  CHECK(says(found.doubts, "the ranks that share it are not known"));
  CHECK(found.deadlocks.empty());
  for (const auto& single : found.unpaired) CHECK_FALSE(single.unmatched);

  made_job alone(3);
  for (std::int64_t rank = 0; rank < 3; ++rank) alone.add_communicator(2, "MPI_COMM_SELF", {rank}, false);
  alone.send(0, 0, 1, 1).receive(0, 0, 1, 1).receive(2, 0, 1, 1);
  CHECK(alone.waits().pairs.size() == 1);
  CHECK(alone.waits().doubts.empty());
}

TEST_CASE("an operation whose partner cannot be seen is not called unmatched") {
  made_job job(3);
  job.send(0, 1, 1).receive(0, 2, 1).receive(0, any_source, 2);
  job.unreadable(1);
  job.communicator(2, 0).of(queue_class::sends).known = queue_knowledge::none;
  const queue_waits found = job.waits();
  REQUIRE(found.unpaired.size() == 3);
  for (const auto& single : found.unpaired) CHECK_FALSE(single.unmatched);
  CHECK(says(found.doubts, "rank 1: no queues could be read"));
  CHECK(says(found.doubts, "rank 2: the queue library gives no information about their sends"));
}

TEST_CASE("the library's own operations and complete ones are not paired") {
  made_job job(2);
  job.send(0, 1, -16).receive(1, 0, -16).receive(1, any_source, any_tag);
  job.receive(0, 1, 3);
  job.communicator(0, 0).of(queue_class::receives).operations[0].status = operation_status::complete;
  const queue_waits found = job.waits();
  CHECK(found.pairs.empty());
  CHECK(found.internal_operations == 2);
  CHECK(found.unpaired.size() == 1);
}

TEST_CASE("the pairs are those of a naive matching") {
  std::mt19937 source(6);  // NOLINT: the same numbers in every run
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(source() % n); };
  for (int round = 0; round < 400; ++round) {
    const auto size = static_cast<std::uint32_t>(1 + below(5));
    made_job job(size);
    std::vector<std::int64_t> group(size);
    std::iota(group.begin(), group.end(), 0);
    std::shuffle(group.begin(), group.end(), source);
    job.add_communicator(7, "derived", group);
    for (auto i = below(40); i > 0; --i) {
      const auto rank = static_cast<std::uint32_t>(below(size));
      const auto where = static_cast<std::size_t>(below(2));
      if (below(2) == 0) {
        job.send(rank, below(size), below(3), where);
      } else {
        job.receive(rank, below(4) == 0 ? any_source : below(size), below(4) == 0 ? any_tag : below(3), where);
      }
    }
    CAPTURE(round);
    const queue_waits found = job.waits();
    CHECK(of(found.pairs) == matched_naively(job));
    std::size_t all = 0;
    for (const rank_report& rank : job.ranks()) {
      for (const auto& own : rank.report->communicators) {
        for (const auto& queue : own.queues) all += queue.operations.size();
      }
    }
    CHECK(2 * found.pairs.size() + found.unpaired.size() == all);
  }
}

TEST_CASE("two hundred thousand operations are paired in linear time") {
  constexpr std::uint32_t size = 64;
  constexpr std::int64_t each = 1600;
  made_job job(size);
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    for (std::int64_t i = 0; i < each; ++i) {
      job.send(rank, (rank + 1) % size, i % 3);
      job.receive(rank, i % 5 == 0 ? any_source : (rank + size - 1) % size, i % 7 == 0 ? any_tag : (each - i) % 3);
    }
    job.in(rank, "MPI_Waitall");
  }
  const auto begin = std::chrono::steady_clock::now();
  const queue_waits found = job.waits();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  CHECK(found.pairs.size() > size * each / 2);
  CHECK(2 * found.pairs.size() + found.unpaired.size() == 2 * size * each);
}
