// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Reports of many ranks within a limit. This file counts the bytes from the capacities of the containers.
#include <algorithm>
#include <deque>
#include <numeric>
#include <set>

#include "catch.hpp"
#include "mpiacq/queues/queue_memory.hpp"

using namespace mpiacq;

namespace {

constexpr std::uint64_t megabyte = std::uint64_t{1} << 20U;

std::vector<std::int64_t> counted_from(std::int64_t first, std::size_t size) {
  std::vector<std::int64_t> numbers(size);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

queue_communicator communicator(std::uint64_t id, std::vector<std::int64_t> group) {
  queue_communicator one;
  one.id = id;
  one.name = "a communicator with a name";
  one.size = static_cast<std::int64_t>(group.size());
  one.group = std::move(group);
  for (queue_listing& queue : one.queues) queue.known = queue_knowledge::complete;
  return one;
}

/// The report of a rank of a usual job, with its own lists.
queue_report usual(std::int64_t rank, std::size_t world) {
  queue_report report;
  report.communicators = {communicator(0, counted_from(0, world)), communicator(1, {rank}),
                          communicator(2, counted_from(rank % 2, world / 2))};
  report.communicators[0].of(queue_class::receives).operations.resize(3);
  return report;
}

queue_report with_operations(std::size_t count) {
  queue_report report = usual(0, 4);
  report.communicators[0].of(queue_class::sends).operations.resize(count);
  return report;
}

/// The bytes of the lists.
std::uint64_t bytes_in(const std::deque<queue_report>& reports) {
  std::uint64_t bytes = 0;
  std::set<const void*> lists;
  for (const queue_report& report : reports) {
    bytes += report.communicators.capacity() * sizeof(queue_communicator);
    for (const queue_communicator& one : report.communicators) {
      for (const queue_listing& queue : one.queues) bytes += queue.operations.capacity() * sizeof(queue_operation);
      if (one.group && lists.insert(one.group->list()).second)
        bytes += one.group->numbers().capacity() * sizeof(std::int64_t);
    }
  }
  return bytes;
}

bool is_shortened(const queue_report& report) {
  return std::any_of(report.problems.begin(), report.problems.end(), [](const error& problem) {
    return problem.code == error_code::limit &&
           problem.message.find("more than there is room for") != std::string::npos;
  });
}

}  // namespace

TEST_CASE("report budget: equal groups share one list, and a large job of usual ranks loses nothing") {
  constexpr std::int64_t ranks = 6000, world = 6000;
  report_budget room(most_bytes_of(ranks));
  std::deque<queue_report> reports;
  std::set<const void*> lists;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    reports.push_back(usual(rank, world));
    room.add(reports.back());
    for (const queue_communicator& one : reports.back().communicators) lists.insert(one.group->list());
  }
  // The world, two halves, and each rank alone.
  CHECK(lists.size() == 3 + ranks);
  CHECK(room.held() < 64 * megabyte);
  CHECK(bytes_in(reports) <= room.held());
  std::size_t as_they_were = 0;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const queue_report& report = reports[static_cast<std::size_t>(rank)];
    const queue_report before = usual(rank, world);
    as_they_were += report.problems.empty() && report.communicators.size() == 3 &&
                    report.communicators[0].group == before.communicators[0].group &&
                    report.communicators[1].group == before.communicators[1].group &&
                    report.communicators[2].group == before.communicators[2].group &&
                    report.communicators[0].of(queue_class::receives).operations.size() == 3;
  }
  CHECK(as_they_were == ranks);
}

TEST_CASE("report budget: the largest reports are shortened, whatever they contain, and the others stay whole") {
  constexpr std::uint64_t most = 32 * megabyte;
  report_budget room(most);
  std::deque<queue_report> reports;
  std::vector<bool> hostile;
  for (int i = 0; i < 30; ++i) {
    reports.push_back(usual(i, 100));
    hostile.push_back(i % 3 != 0);
    if (i % 3 == 1) reports.back() = with_operations(40'000);
    if (i % 3 == 2) reports.back().communicators.push_back(communicator(9, counted_from(i, 2'000'000)));
    room.add(reports.back());
    REQUIRE(room.held() <= most);
    REQUIRE(bytes_in(reports) <= most);
  }
  std::size_t shortened = 0;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    CAPTURE(i);
    // The beginning of each report is kept, and more of the others.
    REQUIRE(reports[i].communicators.size() >= (i % 3 == 1 ? 1U : 3U));
    CHECK(reports[i].problems.size() == (is_shortened(reports[i]) ? 1 : 0));
    if (!hostile[i]) CHECK_FALSE(is_shortened(reports[i]));
    if (!is_shortened(reports[i])) continue;
    ++shortened;
    const auto& world = reports[i].communicators[0];
    const auto& sends = world.of(queue_class::sends);
    if (i % 3 == 1) {
      CHECK((sends.operations.size() > 500 && sends.operations.size() < 40'000));
      CHECK(sends.known == queue_knowledge::cut_short);
      CHECK(world.of(queue_class::unexpected).known == queue_knowledge::complete);
    }
  }
  CHECK(shortened >= 18);  // the last of them may have fitted
}

TEST_CASE("report budget: a long group that several ranks share counts") {
  // Each pair of ranks has its own long group, which the two share. Its memory counts.
  constexpr std::uint64_t most = 16 * megabyte;
  report_budget room(most);
  std::deque<queue_report> reports;
  for (int i = 0; i < 20; ++i) {
    reports.push_back(usual(i, 20));
    reports.back().communicators.push_back(communicator(9, counted_from(i / 2, 500'000)));
    room.add(reports.back());
    REQUIRE(bytes_in(reports) <= most);
  }
  for (const queue_report& report : reports) CHECK(report.communicators.size() >= 3);
}

TEST_CASE("report budget: a communicator whose group is too long stays without its group") {
  report_budget room(megabyte);
  queue_report report;
  report.communicators = {communicator(0, counted_from(0, 1'000'000)), communicator(1, {0})};
  report.communicators[0].of(queue_class::receives).operations.resize(5);
  room.add(report);
  CHECK(is_shortened(report));
  REQUIRE(report.communicators.size() == 2);
  CHECK_FALSE(report.communicators[0].group);
  CHECK(report.communicators[0].size == 1'000'000);
  CHECK(report.communicators[0].of(queue_class::receives).operations.size() == 5);
  CHECK(report.communicators[1].group == group_members{0});
}

TEST_CASE("report budget: a new group is never confused with an earlier one that was freed") {
  report_budget room(most_bytes_of(1000));
  std::deque<queue_report> reports;
  for (std::int64_t i = 0; i < 1000; ++i) {
    reports.emplace_back();
    // One list is used by several communicators, one by this rank alone, and one is equal to it.
    const group_members twice(counted_from(i % 7, 50));
    for (std::uint64_t id = 0; id < 2; ++id) {
      reports.back().communicators.push_back(communicator(id, {}));
      reports.back().communicators.back().group = twice;
    }
    reports.back().communicators.push_back(communicator(2, counted_from(i % 5, 50)));
    room.add(reports.back());
    CHECK(reports.back().communicators[1].group == counted_from(i % 7, 50));
    CHECK(reports.back().communicators[2].group == counted_from(i % 5, 50));
  }
}

TEST_CASE("report budget: communicators that are in no report share lists, and lose their groups before reports do") {
  const auto group = counted_from(0, 100'000);
  const std::uint64_t bytes_of_group = bytes_held(group_members(group));
  queue_report report = usual(0, 4);
  const std::uint64_t bytes_of_report = bytes_held(report);
  report_budget room(bytes_of_report + bytes_of_group + bytes_of_group / 2);
  room.add(report);
  queue_communicator first = communicator(7, group), second = communicator(7, group);
  room.add(first);
  room.add(second);
  REQUIRE(first.group);
  REQUIRE(second.group);
  CHECK(first.group->list() == second.group->list());
  CHECK(room.held() <= bytes_of_report + bytes_of_group);
  queue_communicator third = communicator(8, counted_from(1, 100'000)), fourth = communicator(9, {0, 1});
  room.add(third);
  room.add(fourth);
  for (const queue_communicator* one : {&first, &second, &third, &fourth}) CHECK_FALSE(one->group);
  CHECK(third.id == 8);
  CHECK(room.held() <= bytes_of_report);
  CHECK(report.communicators.size() == 3);
  CHECK(report.communicators[0].group);
  CHECK_FALSE(is_shortened(report));
}
