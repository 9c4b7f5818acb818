// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fake_small_mpi.hpp"
#include "rank_process.hpp"

namespace mpiacq::test {

inline queue_host_options in_process(const queue_limits& limits = {}) {
  auto options = trusting();
  options.isolation = queue_isolation::in_process;
  options.limits = limits;
  return options;
}

/// The report of a fixture library about a fake process, read in this program.
inline result<queue_report> read_here(const std::string& library, fake_small_mpi& mpi,
                                      const queue_limits& limits = {}) {
  auto host = queue_host::create(library_path(library), in_process(limits));
  if (!host) return fail(std::move(host).error());
  return (*host)->read(mpi.subject());
}

/// Rank 1 of 4 with something in each queue, which most tests use.
inline fake_small_mpi busy_rank(const target_abi& abi = lp64_little) {
  fake_small_mpi mpi(abi, 1, 4);
  mpi.communicator("row", {3, 1});
  mpi.receive("MPI_COMM_WORLD", 2, 17, 400);
  mpi.receive("MPI_COMM_WORLD", fake_small_mpi::any, fake_small_mpi::any, 8);
  mpi.receive("row", 0, 5, 16);
  mpi.match_last(2, 0, 5, 12);
  mpi.send("row", 0, 9, 1000);
  mpi.send("MPI_COMM_WORLD", 3, 4, 1);
  mpi.unexpected("row", 0, 6, 64);
  return mpi;
}

/// Checks that a report agrees with busy_rank's description above.
inline void check_busy_rank(const queue_report& report) {
  CHECK(problems_of(report).empty());
  CHECK(report.missing.empty());
  REQUIRE(report.communicators.size() == 2);
  const queue_communicator& world = report.communicators[0];
  const queue_communicator& row = report.communicators[1];
  CHECK((world.id == 0 && world.name == "MPI_COMM_WORLD" && world.local_rank == 1 && world.size == 4));
  CHECK((row.id == 1 && row.name == "row" && row.local_rank == 1 && row.size == 2));

  const auto& receives = world.of(queue_class::receives);
  REQUIRE(receives.operations.size() == 2);
  CHECK(receives.known == queue_knowledge::complete);
  const queue_operation& first = receives.operations[0];
  CHECK(first.status == operation_status::pending);
  CHECK((!first.desired.any && first.desired.local == 2 && first.desired.global == 2U));
  CHECK((first.tag == 17 && first.length == 400 && !first.system_buffer && first.buffer == target_address{0x5000}));
  CHECK_FALSE(first.actual);
  const queue_operation& wild = receives.operations[1];
  CHECK((wild.desired.any && !wild.desired.local && !wild.desired.global));
  CHECK_FALSE(wild.tag);

  REQUIRE(row.of(queue_class::receives).operations.size() == 1);
  const queue_operation& done = row.of(queue_class::receives).operations[0];
  CHECK(done.status == operation_status::complete);
  REQUIRE(done.actual);
  CHECK((done.actual->from_or_to.local == 0 && done.actual->tag == 5 && done.actual->length == 12));

  REQUIRE(row.of(queue_class::sends).operations.size() == 1);
  const queue_operation& sent = row.of(queue_class::sends).operations[0];
  CHECK((sent.desired.local == 0 && sent.tag == 9 && sent.length == 1000));
  REQUIRE(sent.actual);
  CHECK((sent.actual->tag == 9 && sent.actual->length == 1000));
  REQUIRE(world.of(queue_class::sends).operations.size() == 1);
  CHECK(world.of(queue_class::sends).operations[0].desired.global == 3U);
}

/// For reports of libraries that give groups.
inline void check_busy_groups(const queue_report& report) {
  REQUIRE(report.communicators.size() == 2);
  const queue_communicator& row = report.communicators[1];
  CHECK(report.communicators[0].group == std::vector<std::int64_t>{0, 1, 2, 3});
  CHECK(row.group == std::vector<std::int64_t>{3, 1});
  CHECK(row.of(queue_class::sends).operations[0].desired.global == 3U);
  CHECK(row.of(queue_class::sends).operations[0].actual->from_or_to.global == 3U);
  CHECK(row.of(queue_class::receives).operations[0].actual->from_or_to.global == 3U);
}

}  // namespace mpiacq::test
