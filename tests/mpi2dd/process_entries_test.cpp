// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "fake_job.hpp"
#include "mpiacq/mpi2dd/mpi2dd_tables.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using mpi2dd::entry_fault;
using mpi2dd::table_field;

namespace {
result<mpi2dd::process_entries> read(fake_mpi_process& p, const table_limits& limits = {}) {
  p.publish();
  return mpi2dd::read_process_entries(p.memory, p.abi, p.info.proctable, p.info.proctable_size, limits);
}
}  // namespace

TEST_CASE("a process table with spawns is read on every ABI") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    fake_mpi_process p(abi);
    const auto n1 = p.string("n1"), n2 = p.string("10.0.0.2"), app = p.string("/a"), w0 = p.string("w0"),
               w1 = p.string("w1");
    const auto spawn = p.spawn(w0, 1, 7);
    p.put_processes({{n1, app, {}, w0, 41, 0}, {n2, app, {}, w0, 42, 1}, {n2, app, spawn, w1, 43, 0}});
    const auto t = read(p);
    REQUIRE(t.has_value());
    REQUIRE(t->size() == 3);
    CHECK(t->string(t->hosts()[1]) == "10.0.0.2");
    CHECK(t->string(t->executables()[2]) == "/a");
    CHECK(t->string(t->worlds()[2]) == "w1");
    CHECK(t->pids()[0] == 41);
    CHECK(t->ranks()[1] == 1);
    CHECK(t->spawns()[0] == mpi2dd::no_spawn);
    REQUIRE(t->spawns()[2] < t->spawn_descriptions().size());
    const auto& s = t->spawn_descriptions()[t->spawns()[2]];
    CHECK(t->string(s.parent_world) == "w0");
    CHECK(s.parent_rank == 1);
    CHECK(s.sequence == 7);
    CHECK(t->string_count() == 5);
    CHECK(t->facts().problem_count == 0);
    CHECK_FALSE(t->facts().shortfall.has_value());
    CHECK(p.memory.calls == 3);  // entries, spawn descriptors, strings
  }
}

TEST_CASE("a table without entries is empty, and memory is not read") {
  fake_mpi_process p;
  const auto t = mpi2dd::read_process_entries(p.memory, p.abi, target_address{0x99}, 0);
  REQUIRE(t.has_value());
  CHECK(t->size() == 0);
  CHECK(p.memory.calls == 0);
}

TEST_CASE("a size with a null table, and a size below 0, are refused") {
  fake_mpi_process p;
  const auto null = mpi2dd::read_process_entries(p.memory, p.abi, {}, 3);
  REQUIRE_FALSE(null.has_value());
  CHECK(null.error().code == error_code::unreadable_memory);
  const auto negative = mpi2dd::read_process_entries(p.memory, p.abi, target_address{0x4000000}, -3);
  REQUIRE_FALSE(negative.has_value());
  CHECK(negative.error().code == error_code::bad_format);
}

TEST_CASE("a fault of a field is a problem of that field alone") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    fake_mpi_process p(abi);
    const auto n1 = p.string("n1"), app = p.string("/a"), w = p.string("w"), empty = p.string("");
    const target_address nowhere{0x10};
    p.put_processes({{n1, app, {}, w, 41, 0},
                     {nowhere, app, {}, w, 42, 1},
                     {{}, {}, {}, {}, 0, -1},
                     {n1, app, nowhere, empty, 43, 2},
                     {n1, app, p.spawn({}, -1, -2), w, 44, 3},
                     {empty, empty, p.spawn(nowhere, 0, 0), w, 45, 4}});
    const auto t = read(p);
    REQUIRE(t.has_value());
    CHECK(t->hosts()[1] == mpi2dd::unreadable_string);
    CHECK(t->hosts()[2] == mpi2dd::no_string);
    CHECK(t->worlds()[2] == mpi2dd::no_string);
    CHECK(t->spawns()[3] == mpi2dd::unreadable_spawn);
    CHECK(t->string(t->hosts()[5]).empty());
    CHECK(t->pids()[4] == 44);
    const std::vector<std::tuple<std::uint32_t, table_field, entry_fault>> expected = {
        {1, table_field::host_name, entry_fault::unreadable},
        {2, table_field::comm_world_id, entry_fault::null_pointer},
        {2, table_field::pid, entry_fault::impossible_number},
        {2, table_field::rank, entry_fault::impossible_number},
        {3, table_field::spawn_desc, entry_fault::unreadable},
        {3, table_field::comm_world_id, entry_fault::empty},
        {4, table_field::parent_comm_world_id, entry_fault::null_pointer},
        {4, table_field::parent_rank, entry_fault::impossible_number},
        {4, table_field::sequence, entry_fault::impossible_number},
        {5, table_field::parent_comm_world_id, entry_fault::unreadable}};
    REQUIRE(t->facts().problems.size() == expected.size());
    CHECK(t->facts().problem_count == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const auto& [entry, field, fault] = expected[i];
      const mpi2dd::entry_problem& problem = t->facts().problems[i];
      INFO(problem.sentence());
      CHECK(problem.entry == entry);
      CHECK(problem.field == field);
      CHECK(problem.fault == fault);
    }
    CHECK(t->facts().problems[0].sentence() == "host_name of entry 1: the pointer 0x10 cannot be read");
    CHECK(t->spawn_descriptions()[t->spawns()[5]].parent_world == mpi2dd::unreadable_string);
  }
}

TEST_CASE("a table that ends with memory gives the entries that are there") {
  fake_mpi_process p;
  const auto n1 = p.string("n1"), w = p.string("w");
  p.put_processes({{n1, n1, {}, w, 41, 0}, {n1, n1, {}, w, 42, 1}});
  p.info.proctable_size = 1000000;
  const auto t = read(p);
  REQUIRE(t.has_value());
  CHECK(t->size() == 2);
  REQUIRE(t->facts().shortfall.has_value());
  CHECK(t->facts().shortfall->code == error_code::unreadable_memory);
  CHECK(t->facts().claimed == 1000000);
}

TEST_CASE("tables are read up to the limits, and the limits are named") {
  fake_mpi_process p;
  const auto n1 = p.string("n1"), longest = p.string(std::string(100, 'x')), w = p.string("w");
  p.put_processes(
      {{n1, n1, {}, w, 41, 0}, {longest, n1, {}, w, 42, 1}, {longest, n1, {}, w, 0, 2}, {n1, n1, {}, w, 5, 3}});
  table_limits limits;
  limits.max_entries = 3;
  limits.max_string_bytes = 99;
  limits.max_problems = 2;
  const auto t = read(p, limits);
  REQUIRE(t.has_value());
  CHECK(t->size() == 3);
  REQUIRE(t->facts().shortfall.has_value());
  CHECK(t->facts().shortfall->code == error_code::limit);
  CHECK(t->facts().problems.size() == 2);
  CHECK(t->facts().problem_count == 3);
  CHECK(t->facts().problems[0].fault == entry_fault::too_long);
}

TEST_CASE("a large table is read in few calls, each string once") {
  fake_mpi_process p;
  const auto app = p.string("/a"), w0 = p.string("w0"), w1 = p.string("w1");
  std::vector<fake_rank> ranks;
  constexpr std::int32_t count = 100000;
  for (std::int32_t i = 0; i < count; ++i) {
    // Each spawned process with a descriptor of its own, all saying the same.
    ranks.push_back({p.string("n" + std::to_string(i / 64)), app, i % 2 == 0 ? p.spawn(w0, 0, 0) : target_address{},
                     i % 2 == 0 ? w1 : w0, 1 + i, i / 2});
  }
  p.put_processes(ranks);
  const auto t = read(p);
  REQUIRE(t.has_value());
  CHECK(t->size() == count);
  CHECK(t->string_count() == count / 64 + 1 + 3);
  CHECK(t->spawn_descriptions().size() == count / 2);
  CHECK(p.memory.calls <= count * 40 / (512 * 1024) + 1 + 1 + 3);
  CHECK(p.memory.bytes_read <= count * 40 + count / 2 * 16 + 2 * 4096 + 16 * count / 64 + 8192);
  CHECK(t->string(t->hosts()[count - 1]) == "n1562");
}

TEST_CASE("spawn descriptors behind a hole in memory are read") {
  fake_mpi_process p;
  const auto n1 = p.string("n1"), w = p.string("w");
  byte_writer one(p.abi);
  one.wide(w.value()).word(3).word(4);
  const target_address before{0x31000000}, behind{0x31000100};
  p.memory.map(before, std::vector<std::byte>(15));  // one byte is missing
  p.memory.map(behind, one.take());
  p.put_processes({{n1, n1, behind, w, 41, 0}, {n1, n1, before, w, 42, 1}});
  const auto t = read(p);
  REQUIRE(t.has_value());
  CHECK(t->spawn_descriptions()[t->spawns()[0]].parent_rank == 3);
  CHECK(t->spawns()[1] == mpi2dd::unreadable_spawn);
  REQUIRE(t->facts().problems.size() == 1);
  CHECK(t->facts().problems[0].stopped_at == before + 15);
}

TEST_CASE("a process that has ended is an error of the whole table") {
  fake_mpi_process p;
  p.put_processes({{p.string("n1"), {}, {}, {}, 41, 0}});
  p.memory.process_gone = true;
  const auto t = read(p);
  REQUIRE_FALSE(t.has_value());
  CHECK(t.error().code == error_code::process_gone);
}
