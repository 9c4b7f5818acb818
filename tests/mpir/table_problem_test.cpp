// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "fake_target.hpp"
#include "mpiacq/job/process_table.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {
result<process_table> read_all(fake_starter& starter, std::uint64_t entries, const table_limits& limits = {},
                               target_address base = fake_starter::table) {
  return read_process_table(starter.memory, starter.abi, starter.layout, base, entries, limits);
}

std::vector<std::string> sentences(const process_table& table) {
  std::vector<std::string> all;
  for (const field_problem& p : table.problems()) all.push_back(p.sentence());
  return all;
}
}  // namespace

TEST_CASE("each bad field is a problem of that field alone") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    fake_starter starter(abi);
    const auto good = starter.string("good");
    const target_address wild{0x10};
    starter.put_table({{good, target_address{0}, 5},
                       {wild, good, 6},
                       {good, good, 0},
                       {good, good, 7},
                       {target_address{0}, target_address{0}, -1},
                       {good, good, 4194305}});
    const auto table = read_all(starter, 6);
    REQUIRE(table.has_value());
    CHECK(sentences(*table) == std::vector<std::string>{
                                   "executable_name of rank 0: the pointer is null",
                                   "host_name of rank 1: the pointer 0x10 cannot be read",
                                   "pid of rank 2: 0 is no process id",
                                   "host_name of rank 4: the pointer is null",
                                   "executable_name of rank 4: the pointer is null",
                                   "pid of rank 4: -1 is no process id",
                                   "pid of rank 5: 4194305 is no process id",
                               });
    CHECK(table->problem_count() == 7);
    CHECK(table->host_name(entry_index{0}) == "good");
    CHECK_FALSE(table->executable_name(entry_index{0}).has_value());
    CHECK_FALSE(table->host_name(entry_index{1}).has_value());
    CHECK(table->executable_name(entry_index{1}) == "good");
    CHECK(table->pid(entry_index{1}) == process_id{6});
    CHECK(table->pid(entry_index{4}) == process_id{-1});
    CHECK(table->problems_of(entry_index{3}).empty());
    CHECK(table->problems_of(entry_index{4}).size() == 3);
    CHECK(table->problems()[0].address == fake_starter::table + abi.pointer_size);
    CHECK(table->problems()[1].address == wild);
    CHECK(table->string_count() == 1);
  }
}

TEST_CASE("a null pointer in the first entries is a problem even if all else is right") {
  fake_starter starter;
  const auto good = starter.string("good");
  starter.put_table({{target_address{0}, good, 5}, {target_address{0}, good, 6}});
  const auto table = read_all(starter, 2);
  REQUIRE(table.has_value());
  CHECK(table->problem_count() == 2);
  CHECK(table->executable_name(entry_index{0}) == "good");
}

TEST_CASE("a string that runs off memory says where memory ends") {
  fake_starter starter;
  starter.skip(read_page_size - 3);
  const target_address cut = fake_starter::strings + (read_page_size - 3);
  const auto good = fake_starter::strings + read_page_size * 8;
  starter.memory.map(good, std::string("good\0", 5));
  starter.memory.map(fake_starter::strings, std::string(read_page_size, '#'));
  starter.memory.map(fake_starter::table, starter.encode({{cut, good, 5}}));
  const auto table = read_all(starter, 1);
  REQUIRE(table.has_value());
  CHECK(sentences(*table) ==
        std::vector<std::string>{
            "host_name of rank 0: the string at 0x41000ffd has no end before 0x41001000, which cannot "
            "be read"});
  CHECK(table->problems()[0].fault == field_fault::unreadable);
  CHECK(table->problems()[0].stopped_at == target_address{0x41001000});
}

TEST_CASE("the limits of strings are named") {
  fake_starter starter;
  const auto longer = starter.string("123456");
  const auto fits = starter.string("12345");
  starter.put_table({{longer, fits, 5}});
  table_limits limits;
  limits.max_string_bytes = 5;
  const auto table = read_all(starter, 1, limits);
  REQUIRE(table.has_value());
  CHECK(table->executable_name(entry_index{0}) == "12345");
  REQUIRE(table->problem_count() == 1);
  CHECK(table->problems()[0].fault == field_fault::too_long);
  CHECK_THAT(table->problems()[0].sentence(), ContainsSubstring("table_limits::max_string_bytes)"));

  limits = {};
  limits.max_string_bytes_in_all = 8;
  const auto less = read_all(starter, 1, limits);
  REQUIRE(less.has_value());
  CHECK(less->host_name(entry_index{0}) == "123456");
  REQUIRE(less->problem_count() == 1);
  CHECK(less->problems()[0].fault == field_fault::beyond_limit);
  CHECK_THAT(less->problems()[0].sentence(), ContainsSubstring("table_limits::max_string_bytes_in_all)"));
}

TEST_CASE("problems are kept up to their limit, and all counted") {
  fake_starter starter;
  starter.put_table(std::vector<fake_entry>(1000, {target_address{0x10}, target_address{0}, -5}));
  table_limits limits;
  limits.max_problems = 10;
  const auto table = read_all(starter, 1000, limits);
  REQUIRE(table.has_value());
  CHECK(table->problems().size() == 10);
  CHECK(table->problem_count() == 3000);
}

TEST_CASE("a table that claims more entries than memory holds keeps the readable ones") {
  for (const std::uint64_t claimed : {std::uint64_t{11}, std::uint64_t{2147483647}, UINT64_MAX}) {
    INFO(claimed);
    fake_starter starter;
    const auto good = starter.string("good");
    starter.put_table(std::vector<fake_entry>(10, {good, good, 5}));
    table_limits limits;
    limits.max_entries = UINT64_MAX;
    const auto table = read_all(starter, claimed, limits);
    REQUIRE(table.has_value());
    CHECK(table->size() == 10);
    CHECK(table->claimed_size() == claimed);
    CHECK(table->problem_count() == 0);
    REQUIRE(table->shortfall().has_value());
    CHECK(table->shortfall()->code == error_code::unreadable_memory);
    CHECK(table->shortfall()->address == fake_starter::table + 240);
    CHECK(table->shortfall()->message == "the process table claims " + std::to_string(claimed) +
                                             " entries, but memory ends at 0x40000f0: the first 10 were read");
  }
}

TEST_CASE("the memory for a large table that claims one entry too many grows with the entries read") {
  fake_starter starter;
  std::vector<fake_entry> entries;
  constexpr int count = 300000;
  for (int i = 0; i < count; ++i)
    entries.push_back({starter.string("n" + std::to_string(i)), fake_starter::strings, 1 + i});
  starter.put_table(entries);
  const auto table = read_all(starter, count + 1);
  REQUIRE(table.has_value());
  REQUIRE(table->size() == count);
  CHECK(table->string_count() == count);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool right = table->host_name(entry_index{i}) == "n" + std::to_string(i) &&
                       table->executable_name(entry_index{i}) == "n0" &&
                       table->pid(entry_index{i}) == process_id{1 + static_cast<std::int64_t>(i)};
    wrong += right ? 0U : 1U;
  }
  CHECK(wrong == 0);
  CHECK(table->shortfall()->code == error_code::unreadable_memory);
}

TEST_CASE("an entry counts if its fields can be read, even if its padding cannot") {
  fake_starter starter;
  const auto good = starter.string("good");
  starter.put_table({{good, good, 5}});
  auto bytes = starter.encode({{good, good, 5}, {good, good, 6}, {good, good, 7}});
  bytes.resize(48 + 20);  // to the end of the third pid
  starter.memory.map(fake_starter::table, bytes);
  CHECK(read_all(starter, 3)->size() == 3);
  CHECK_FALSE(read_all(starter, 3)->shortfall().has_value());
  bytes.pop_back();
  starter.memory.map(fake_starter::table, bytes);
  CHECK(read_all(starter, 3)->size() == 2);
}

TEST_CASE("more entries than the limit are not read, and the limit is named") {
  fake_starter starter;
  const auto good = starter.string("good");
  starter.put_table(std::vector<fake_entry>(10, {good, good, 5}));
  table_limits limits;
  limits.max_entries = 4;
  const auto table = read_all(starter, 10, limits);
  REQUIRE(table.has_value());
  CHECK(table->size() == 4);
  REQUIRE(table->shortfall().has_value());
  CHECK(table->shortfall()->code == error_code::limit);
  CHECK(table->shortfall()->message ==
        "the process table claims 10 entries, more than the limit of 4 (table_limits::max_entries): the first 4 were "
        "read");
}

TEST_CASE("a table of which nothing can be read is an error") {
  fake_starter starter;
  const auto nowhere = read_all(starter, 5, {}, target_address{0x900000});
  REQUIRE_FALSE(nowhere.has_value());
  CHECK(nowhere.error().code == error_code::unreadable_memory);
  CHECK(nowhere.error().address == target_address{0x900000});
  CHECK(
      nowhere.error().message ==
      "the process table at 0x900000 cannot be read (it claims 5 entries): memory ends at 0x900000, within the first");
  CHECK_THAT(read_all(starter, 5, {}, target_address{0}).error().message,
             ContainsSubstring("is null, though it claims 5"));
  CHECK(read_all(starter, 5, {}, target_address{UINT64_MAX - 3}).error().code == error_code::unreadable_memory);
  fake_starter narrow(ilp32_little);
  CHECK(read_all(narrow, 5, {}, target_address{0x100000000}).error().code == error_code::unreadable_memory);
}

TEST_CASE("a process that ends while its table is read is an error") {
  fake_starter starter;
  starter.put_table({{target_address{0}, target_address{0}, 1}});
  starter.memory.process_gone = true;
  const auto table = read_all(starter, 1);
  REQUIRE_FALSE(table.has_value());
  CHECK(table.error().code == error_code::process_gone);
  CHECK_THAT(table.error().message, ContainsSubstring("reading the process table"));
}
