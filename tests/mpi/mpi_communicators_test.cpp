// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Communicators read from an MPI's own structures in fake memory, including states that no MPI produces.
#include <random>

#include "catch.hpp"
#include "fake_target.hpp"
#include "made_types.hpp"
#include "mpich_communicators.hpp"
#include "openmpi_communicators.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

queue_communicator told(std::uint64_t id, std::int64_t rank, std::vector<std::int64_t> group) {
  queue_communicator one;
  one.id = id;
  one.local_rank = rank;
  one.size = static_cast<std::int64_t>(group.size());
  queue_operation op;
  op.desired.local = 0;
  op.desired.global = static_cast<std::uint32_t>(group.front());
  one.of(queue_class::receives).operations.push_back(op);
  one.group = std::move(group);
  return one;
}

std::optional<std::uint32_t> peer_number(const queue_communicator& one) {
  return one.of(queue_class::receives).operations.front().desired.global;
}

/// Rank 1 of four: a world, and an intercommunicator from {1, 0} to {3, 2}.
struct openmpi_process {
  static constexpr target_address base{0x4000000};
  fake_starter process;
  made_types types;
  queue_report report;

  openmpi_process() {
    types.define("opal_pointer_array_t", {number("size", 0), number("addr", 8, 8)});
    types.define("ompi_communicator_t", {number("c_contextid", 0), number("c_my_rank", 4), number("c_flags", 8),
                                         number("c_local_group", 16, 8), number("c_remote_group", 24, 8)});
    types.define("ompi_group_t", {number("grp_proc_count", 0), number("grp_proc_pointers", 8, 8)});
    types.define("opal_proc_t", {number("proc_name", 16, 8)});
    process.memory.map(base, std::vector<std::byte>(0x2000));
    process.variable("ompi_mpi_communicators", 16);
    array(3);
    put(0x20, at(0x200));  // addresses of the communicators; nothing is at place 1
    put(0x30, at(0x300));
    communicator(0x200, 0, 0, 1, 0x400, 0);
    communicator(0x300, 2, 1, 0, 0x500, 0x600);
    // Of the world, this process has talked to two. The others are stored by their names, shifted by one bit.
    group(0x400, {name(0), at(0x1100), at(0x1200), name(3)});
    group(0x500, {at(0x1100), name(0)});
    group(0x600, {at(0x1300), at(0x1200)});
    for (const std::uint64_t rank : {1U, 2U, 3U}) put(0x1010 + rank * 0x100, rank << 32U | 0x12340001U);
    report.communicators = {told(0, 1, {0, 1, 2, 3}), told(2, 0, {1, 0}), told(9, 0, {1})};
  }

  static std::uint64_t at(std::uint64_t offset) { return (base + offset).value(); }
  static std::uint64_t name(std::uint64_t rank) { return rank << 32U | 0x1234U << 16U | 1U << 1U | 1U; }
  void put(std::uint64_t offset, std::uint64_t value, std::size_t size = 8) {
    process.poke(base + offset, static_cast<std::int64_t>(value), size);
  }
  void array(std::uint64_t size) {
    const target_address variable = fake_starter::variables;
    process.poke(variable, static_cast<std::int64_t>(size), 4);
    process.poke(variable + 8, static_cast<std::int64_t>(at(0x20)), 8);
  }
  void communicator(std::uint64_t offset, std::uint64_t id, std::uint64_t flags, std::uint64_t rank,
                    std::uint64_t group, std::uint64_t remote) {
    put(offset, id, 4);
    put(offset + 4, rank, 4);
    put(offset + 8, flags, 4);
    put(offset + 16, at(group));
    put(offset + 24, remote == 0 ? 0 : at(remote));
  }
  void group(std::uint64_t offset, const std::vector<std::uint64_t>& members) {
    put(offset, members.size(), 4);
    put(offset + 8, at(offset + 16));
    for (std::size_t i = 0; i < members.size(); ++i) put(offset + 16 + i * 8, members[i]);
  }
  void look() {
    target whole{process.memory, nullptr, process.abi, process.symbols};
    look_at_openmpi_communicators(whole, types, report);
  }
  [[nodiscard]] const queue_communicator& between() const { return report.communicators[1]; }
};

}  // namespace

TEST_CASE("Open MPI's own structures give the remote group of an intercommunicator") {
  openmpi_process seen;
  seen.look();
  CHECK(seen.report.communicators[0].is_inter == false);
  CHECK(peer_number(seen.report.communicators[0]) == 0U);
  CHECK(seen.between().is_inter == true);
  CHECK(seen.between().remote_group == std::vector<std::int64_t>{3, 2});
  CHECK(peer_number(seen.between()) == 3U);
  CHECK_FALSE(seen.report.communicators[2].is_inter);  // its list has no entry for it
}

TEST_CASE("a process outside of the world has no number, and an unknown group gives no numbers") {
  openmpi_process seen;
  seen.group(0x600, {openmpi_process::name(7), openmpi_process::at(0x1200)});
  SECTION("of another job") {
    seen.look();
    CHECK(seen.between().remote_group == std::vector<std::int64_t>{-1, 2});
  }
  SECTION("a group that is kept sparse") {
    seen.put(0x608, 0);
    seen.look();
    CHECK_FALSE(seen.between().remote_group);
  }
  SECTION("a group longer than any") {
    seen.put(0x600, 0x7fffffff, 4);
    seen.look();
    CHECK_FALSE(seen.between().remote_group);
  }
  SECTION("names that cannot be read") {
    seen.types.forget("opal_proc_t");
    seen.put(0x610, 0x10);
    seen.look();
    CHECK(seen.between().remote_group == std::vector<std::int64_t>{-1, 2});
  }
  CHECK(seen.between().is_inter == true);
  CHECK_FALSE(peer_number(seen.between()));
}

TEST_CASE("structures that contradict the queue library leave its report unchanged") {
  openmpi_process seen;
  SECTION("another rank") {
    seen.put(0x304, 1, 4);
  }
  SECTION("no types") {
    seen.types.forget("ompi_communicator_t");
  }
  SECTION("no list") {
    seen.process.symbols.remove("ompi_mpi_communicators");
  }
  SECTION("a list longer than any") {
    seen.array(0x7fffffff);
  }
  SECTION("a list that reaches out of memory") {
    seen.array(5000);
  }
  SECTION("a field larger than an integer") {
    seen.types.define("ompi_communicator_t", {number("c_contextid", 0, 16), number("c_my_rank", 4)});
  }
  seen.look();
  CHECK_FALSE(seen.between().is_inter);
  CHECK(peer_number(seen.between()) == 1U);
}

TEST_CASE("arbitrary bytes of an Open MPI process change nothing but numbers") {
  std::mt19937 source(6);  // NOLINT: the same numbers in every run
  for (int round = 0; round < 2000; ++round) {
    openmpi_process seen;
    for (auto changes = source() % 8; changes > 0; --changes) {
      seen.put(source() % 0x1ff8, source() % 2 == 0 ? source() : openmpi_process::at(source() % 0x2000));
    }
    seen.look();
    for (const auto& one : seen.report.communicators) {
      if (one.remote_group) CHECK(one.is_inter == true);
    }
  }
}

TEST_CASE("an MPICH communicator gets the id that is the same in all its members") {
  fake_starter process;
  made_types types;
  types.define("MPIR_Comm",
               {number("context_id", 0, 2), number("recvcontext_id", 2, 2), number("rank", 4), number("comm_kind", 8)});
  const target_address base{0x4000000};
  process.memory.map(base, std::vector<std::byte>(4096));
  process.variable("MPIR_All_communicators", 16);
  const auto communicator = [&](std::uint64_t offset, std::int64_t sends, std::int64_t receives, std::int64_t rank,
                                std::int64_t kind) {
    process.poke(base + offset, sends, 2);
    process.poke(base + offset + 2, receives, 2);
    process.poke(base + offset + 4, rank, 4);
    process.poke(base + offset + 8, kind, 4);
  };
  communicator(0x100, 44, 44, 1, 0);
  communicator(0x200, 46, 48, 1, 1);
  communicator(0x300, 50, 50, 2, 0);
  queue_report report;
  for (const std::uint64_t offset : {0x100U, 0x200U, 0x300U, 0xf000U}) {
    report.communicators.push_back(told((base + offset).value(), 1, {5, 6}));
  }
  target whole{process.memory, nullptr, process.abi, process.symbols};
  look_at_mpich_communicators(whole, types, report);
  const auto& all = report.communicators;
  CHECK(all[0].id == 44);
  CHECK(all[0].is_inter == false);
  CHECK(peer_number(all[0]) == 5U);
  CHECK(all[1].id == 48);
  CHECK(all[1].is_inter == true);
  CHECK_FALSE(peer_number(all[1]));
  CHECK(all[2].id == (base + 0x300U).value());  // the rank differs, so the library described another communicator
  CHECK(all[3].id == (base + 0xf000U).value());
}
