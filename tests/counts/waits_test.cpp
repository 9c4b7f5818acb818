// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the analysis of message queues allocates beside the reports of hostile queue libraries.
#include <cstdint>
#include <string>
#include <vector>

#include "catch.hpp"
#include "mpiacq/queues/queue_memory.hpp"
#include "mpiacq/queues/queue_waits.hpp"
#include "peak_allocated.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

constexpr std::size_t megabyte = std::size_t{1} << 20U;

/// Every second number from `first` on: no two of them are neighbours.
group_members strided_group(std::size_t members, std::int64_t first) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(members);
  for (std::size_t i = 0; i < members; ++i) numbers.push_back(first + 2 * static_cast<std::int64_t>(i));
  return numbers;
}

queue_communicator communicator(std::uint64_t id, std::int64_t size) {
  queue_communicator made;
  made.id = id;
  made.name = "hostile";
  made.size = size;
  made.local_rank = size - 1;
  queue_operation endless;
  endless.desired.local = 0;
  endless.tag = 7;
  made.of(queue_class::receives).operations = {endless};
  for (queue_listing& queue : made.queues) queue.known = queue_knowledge::complete;
  return made;
}

/// The job with these communicators in one report each.
std::vector<rank_report> one_rank_each(const std::vector<queue_communicator>& communicators) {
  std::vector<rank_report> ranks;
  for (const queue_communicator& one : communicators) {
    const auto number = static_cast<std::uint32_t>(ranks.size());
    ranks.push_back({entry_index{number}, process_id{1000 + number}, queue_report{}, activity_in("MPI_Recv")});
    ranks.back().report->communicators.push_back(one);
  }
  return ranks;
}

std::size_t peak_of_analysis(const std::vector<rank_report>& ranks) {
  const std::size_t peak = peak_allocated_by([&] { (void)find_waits(ranks); });
  CAPTURE(peak);
  CHECK(peak > 0);
  return peak;
}

/// For the ranks that groups name and that were not looked at: a million numbers, the set of them and its text.
constexpr std::size_t for_a_sentence = 64 * megabyte;

}  // namespace

TEST_CASE("the analysis of groups that all differ allocates no copies of them") {
  if (!counts_peaks()) MPIACQ_SKIP("allocations are counted by AddressSanitizer's hooks only");
  constexpr std::size_t members = std::size_t{1} << 19U;
  std::vector<queue_communicator> all;
  for (std::int64_t rank = 0; rank < 12; ++rank) {
    queue_communicator one = communicator(1, members);
    one.group = strided_group(members, rank << 24U);
    one.remote_group = rank % 2 == 0 ? one.group : strided_group(members, (rank << 24U) + 1);
    one.is_inter = rank % 3 == 0;
    all.push_back(std::move(one));
  }
  const auto ranks = one_rank_each(all);
  std::uint64_t held = 0;
  for (const rank_report& rank : ranks) held += bytes_held(*rank.report);
  REQUIRE(held > 70 * megabyte);
  CHECK(peak_of_analysis(ranks) < for_a_sentence);
}

TEST_CASE("the analysis of many communicators that share a long group allocates nothing for its length") {
  if (!counts_peaks()) MPIACQ_SKIP("allocations are counted by AddressSanitizer's hooks only");
  constexpr std::size_t members = std::size_t{1} << 17U;
  const group_members shared = strided_group(members, 0);
  std::vector<queue_communicator> all;
  for (std::uint64_t id = 0; id < 100; ++id) {
    all.push_back(communicator(id, members));
    all.back().group = shared;
  }
  // 100 copies would be 100 MB.
  CHECK(peak_of_analysis(one_rank_each(all)) < 16 * megabyte);
}

TEST_CASE("the analysis of large communicators without a group allocates for the ranks that were looked at alone") {
  if (!counts_peaks()) MPIACQ_SKIP("allocations are counted by AddressSanitizer's hooks only");
  std::vector<queue_communicator> all;
  for (std::uint64_t id = 0; id < 100; ++id) all.push_back(communicator(id, std::int64_t{1} << 24U));
  CHECK(peak_of_analysis(one_rank_each(all)) < megabyte);
}
