// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// One collective call, and ranks that pass different operations or amounts of data.
#include "catch.hpp"
#include "made_calls.hpp"
#include "made_reports.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

using arguments = std::vector<mpi_argument>;

mpi_argument type(const char* name, mpi_role role = mpi_role::datatype) {
  return number(role, 1, name);
}
arguments sum_of(std::int64_t count, const char* of_type, const char* operation) {
  return {number(mpi_role::count, count), type(of_type), number(mpi_role::operation, 2, operation), on_world()};
}

/// All ranks are in this call, without queues.
std::vector<call_mismatch> mismatches_of(const char* function, const std::vector<arguments>& passed) {
  std::vector<rank_report> ranks;
  for (std::uint32_t rank = 0; rank < passed.size(); ++rank) ranks.push_back(in_call(rank, function, passed[rank]));
  return find_waits(ranks).mismatches;
}

}  // namespace

TEST_CASE("ranks that pass different amounts of data to a reduction perhaps do not match") {
  const auto found = mismatches_of("MPI_Allreduce", {sum_of(4, "MPI_INT", "MPI_SUM"), sum_of(8, "MPI_INT", "MPI_SUM"),
                                                     sum_of(2, "MPI_DOUBLE", "MPI_SUM")});
  REQUIRE(found.size() == 1);
  CHECK_FALSE(found.at(0).certain);
  CHECK(
      found.at(0).sentence() ==
      "the collective calls on MPI_COMM_WORLD do not match: ranks 0,2 are in MPI_Allreduce with 16 bytes, rank 1 is in "
      "MPI_Allreduce with 32 bytes");
}

TEST_CASE("ranks that pass different operations to a reduction perhaps do not match") {
  const auto found = mismatches_of("MPI_Allreduce", {sum_of(4, "MPI_INT", "MPI_MAX"), sum_of(4, "MPI_INT", "MPI_SUM")});
  REQUIRE(found.size() == 1);
  CHECK(found.at(0).sentence() ==
        "the collective calls on MPI_COMM_WORLD do not match: rank 0 is in MPI_Allreduce with MPI_MAX, rank 1 is in "
        "MPI_Allreduce with MPI_SUM");
}

TEST_CASE("ranks with queues are compared as those without are") {
  made_job job(2);
  job.ranks()[0].doing = call("MPI_Bcast", {number(mpi_role::count, 1), type("MPI_INT"), on_world()});
  job.ranks()[1].doing = call("MPI_Bcast", {number(mpi_role::count, 2), type("MPI_INT"), on_world()});
  const auto found = job.waits();
  CHECK(found.deadlocks.empty());
  REQUIRE(found.mismatches.size() == 1);
  CHECK(found.mismatches.at(0).calls.at(0).call == "MPI_Bcast with 4 bytes");
}

TEST_CASE("arguments that are not known, and types of unknown size, differ from nothing") {
  const arguments known = sum_of(4, "MPI_INT", "MPI_SUM");
  CHECK(mismatches_of("MPI_Allreduce", {known, {on_world()}}).empty());
  CHECK(mismatches_of("MPI_Allreduce", {known, sum_of(8, "", "")}).empty());
  CHECK(mismatches_of("MPI_Allreduce", {known, sum_of(-4, "MPI_INT", "MPI_SUM")}).empty());
  CHECK(mismatches_of("MPI_Allreduce", {known, sum_of(INT64_MAX, "MPI_DOUBLE", "MPI_SUM")}).empty());
}

TEST_CASE("calls in which ranks may pass different amounts of data are not compared") {
  const auto gather = [](std::int64_t count) {
    return arguments{number(mpi_role::send_count, count), type("MPI_INT", mpi_role::send_type), on_world()};
  };
  for (const char* function : {"MPI_Gather", "MPI_Gatherv", "MPI_Scatterv", "MPI_Allgatherv", "MPI_Allgather"}) {
    INFO(function);
    CHECK(mismatches_of(function, {gather(4), gather(8)}).empty());
  }
}

TEST_CASE("calls on different communicators are not compared") {
  made_job job(4);
  job.add_communicator(5, "copy", {0, 1, 2, 3});
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    auto passed = sum_of(rank < 2 ? 4 : 8, "MPI_INT", "MPI_SUM");
    if (rank >= 2) passed.back() = on_another();
    job.ranks()[rank].doing = call("MPI_Allreduce", passed);
  }
  CHECK(job.waits().mismatches.empty());
}

TEST_CASE("more different amounts than any program has are cut short") {
  std::vector<arguments> passed;
  for (std::int64_t rank = 0; rank < 40; ++rank) passed.push_back(sum_of(rank, "MPI_INT", "MPI_SUM"));
  const auto found = mismatches_of("MPI_Allreduce", passed);
  REQUIRE(found.size() == 1);
  CHECK(found.at(0).calls.size() == 8);
}
