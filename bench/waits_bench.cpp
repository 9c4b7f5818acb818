// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What it costs to find out which rank waits for which, and what to say first of it: `find_waits` and `find_verdict`,
// on reports of made-up ranks. The floor looks once at all that the reports contain.
//   waits_bench [RANKS...]
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench_sizes.hpp"
#include "floor/bare_hold.hpp"
#include "in_turn.hpp"
#include "measurement.hpp"
#include "mpiacq/queues/queue_waits.hpp"
#include "mpiacq/queues/verdict.hpp"
#include "peak_memory.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

using reports = std::vector<rank_report>;

mpi_argument number(mpi_role role, std::int64_t value, std::string name = {}) {
  return {role, true, false, value, std::move(name)};
}
mpi_argument on_world() {
  return number(mpi_role::communicator, 0x44000000, "MPI_COMM_WORLD");
}

rank_activity call(const char* function, std::vector<mpi_argument> arguments) {
  rank_activity made = activity_in(function);
  made.arguments = std::move(arguments);
  made.at = {"exchange", "/home/somebody/work/application/source/solver.c", 88};
  return made;
}

rank_report without_queues(std::uint32_t rank, rank_activity doing) {
  rank_report made{entry_index{rank}, process_id{1000 + rank}, fail(error_code::unsupported, "no queue library")};
  made.doing = std::move(doing);
  return made;
}

/// Each rank receives from the next one: a ring, known from the arguments of the calls.
reports ring_of_calls(std::uint32_t count) {
  reports all;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const std::uint32_t next = (rank + 1) % count;
    all.push_back(
        without_queues(rank, call("MPI_Recv", {number(mpi_role::source, next), number(mpi_role::tag, 7), on_world()})));
  }
  return all;
}

/// All ranks are in a sum, but for one that computes.
reports sum_without_one(std::uint32_t count) {
  reports all;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const bool computes = rank == count / 2;
    all.push_back(without_queues(
        rank, computes ? call("main", {}) : call("MPI_Allreduce", {number(mpi_role::count, 1), on_world()})));
  }
  return all;
}

queue_operation operation(std::int64_t peer, std::int64_t tag) {
  queue_operation made;
  made.desired.local = peer;
  made.desired.global = static_cast<std::uint32_t>(peer);
  made.tag = tag;
  made.length = 65536;
  return made;
}

/// A report of a queue library. The group is shared, as it is for the ranks of a job.
rank_report with_queues(std::uint32_t rank, const group_members& world, std::int64_t size) {
  rank_report made{entry_index{rank}, process_id{1000 + rank}, queue_report{}};
  queue_communicator one;
  one.id = 0;
  one.name = "MPI_COMM_WORLD";
  one.local_rank = rank;
  one.size = size;
  one.group = world;
  for (queue_listing& queue : one.queues) queue.known = queue_knowledge::complete;
  made.report->communicators.push_back(std::move(one));
  return made;
}

/// Each rank waits for messages of its four neighbours and sends four itself. One receive has a wrong tag.
reports halos(std::uint32_t count) {
  std::vector<std::int64_t> members(count);
  std::iota(members.begin(), members.end(), 0);
  const group_members world(std::move(members));
  constexpr std::uint32_t width = 100;
  reports all;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    all.push_back(with_queues(rank, world, count));
    all.back().doing = call("MPI_Waitall", {number(mpi_role::count, 8)});
    queue_communicator& own = all.back().report->communicators.front();
    const std::array<std::uint32_t, 4> there = {1, count - 1, width % count, count - width % count};
    for (std::uint32_t side = 0; side < there.size(); ++side) {
      const std::int64_t peer = (rank + there[side]) % count;
      own.of(queue_class::sends).operations.push_back(operation(peer, side));
      const std::uint32_t tag = rank == 0 && side == 0 ? 99 : side ^ 1U;  // the neighbour's opposite side
      own.of(queue_class::receives).operations.push_back(operation(peer, tag));
    }
  }
  return all;
}

/// All that the reports contain, touched once.
std::uint64_t look_at(const reports& all) {
  std::unordered_map<std::uint32_t, const rank_report*> by_number;
  std::uint64_t sum = 0;
  for (const rank_report& rank : all) {
    by_number.emplace(rank.entry.value(), &rank);
    for (const mpi_argument& argument : rank.doing.arguments) sum += static_cast<std::uint64_t>(argument.value);
    sum += rank.doing.function.size() + rank.doing.at.line;
    if (!rank.report) continue;
    for (const queue_communicator& one : rank.report->communicators) {
      for (const queue_listing& queue : one.queues) {
        for (const queue_operation& each : queue.operations)
          sum += each.desired.global.value_or(0) + static_cast<std::uint64_t>(*each.tag);
      }
    }
  }
  return sum + by_number.size();
}

void measure(const std::string& what, const reports& all, verdict_basis expected) {
  queue_waits found;
  verdict said;
  const auto conclude = [&] {
    found = find_waits(all);
    said = find_verdict(found, all);
  };
  const std::uint64_t peak = peak_growth(conclude);
  must_be(said.basis == expected, said.sentence.c_str());
  std::uint64_t sum = 0;
  const auto [ours, floor] = in_turn({}, conclude, [&] { sum += look_at(all); });
  must_be(sum > 0, "a look at the reports");
  measurement("waits, " + what, all.size(), "ranks")
      .ours(ours)
      .floor("one look at all that the reports contain", floor)
      .memory(peak, 0)
      .figure("waits", static_cast<double>(found.waits.size()))
      .print();
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::size_t size : sizes(argc, argv, {1'000, 100'000})) {
    const auto count = static_cast<std::uint32_t>(size);
    measure("a ring of calls", ring_of_calls(count), verdict_basis::possible_deadlock);
    measure("a sum without one rank", sum_without_one(count), verdict_basis::wait);
    measure("halos in queues", halos(count), verdict_basis::possible_deadlock);
  }
}
