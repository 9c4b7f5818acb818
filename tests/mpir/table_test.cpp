// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "fake_target.hpp"
#include "mpiacq/job/process_table.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {
result<process_table> read(fake_starter& starter, std::uint64_t entries, const table_limits& limits = {}) {
  return read_process_table(starter.memory, starter.abi, starter.layout, fake_starter::table, entries, limits);
}
}  // namespace

TEST_CASE("a table is read on every ABI") {
  for (const target_abi& abi : every_abi) {
    INFO(abi_title(abi));
    fake_starter starter(abi);
    const auto n1 = starter.string("n1");
    const auto n2 = starter.string("fe80::1");
    const auto app = starter.string("/path/a.out");
    starter.put_table({{n1, app, 4242}, {n1, app, 4243}, {n2, app, 17}});
    const auto table = read(starter, 3);
    REQUIRE(table.has_value());
    REQUIRE(table->size() == 3);
    CHECK(table->host_name(entry_index{0}) == "n1");
    CHECK(table->host_name(entry_index{2}) == "fe80::1");
    CHECK(table->executable_name(entry_index{1}) == "/path/a.out");
    CHECK(table->pid(entry_index{0}) == process_id{4242});
    CHECK(table->pid(entry_index{2}) == process_id{17});
    CHECK(table->problem_count() == 0);
    CHECK(table->string_count() == 3);
    CHECK(table->claimed_size() == 3);
    CHECK_FALSE(table->shortfall().has_value());
    CHECK(table->layout().name == "MPIR_PROCDESC");
  }
}

TEST_CASE("a table without entries is empty, and memory is not read") {
  fake_starter starter;
  const auto table = read(starter, 0);
  REQUIRE(table.has_value());
  CHECK(table->empty());
  CHECK(starter.memory.calls == 0);
}

TEST_CASE("shared strings are read once: few calls, few bytes") {
  fake_starter starter;
  const auto n1 = starter.string("n1");
  const auto n2 = starter.string("n2");
  const auto app = starter.string("/path/a.out");
  std::vector<fake_entry> entries;
  constexpr std::size_t count = 100000;
  for (std::size_t i = 0; i < count; ++i) entries.push_back({i % 2 == 0 ? n1 : n2, app, 1 + static_cast<int>(i)});
  starter.put_table(entries);
  const auto table = read(starter, count);
  REQUIRE(table.has_value());
  CHECK(table->string_count() == 3);
  CHECK(table->host_numbers()[0] == table->host_numbers()[99998]);
  CHECK(table->host_name(entry_index{1}) == "n2");
  CHECK(table->pid(entry_index{99999}) == process_id{100000});
  CHECK(starter.memory.calls <= count * 24 / (512 * 1024) + 3);
  CHECK(starter.memory.bytes_read <= count * 24 + 24 + read_page_size);
}

TEST_CASE("own strings are read once, page by page") {
  fake_starter starter;
  std::vector<fake_entry> entries;
  constexpr std::size_t count = 50000;
  for (std::size_t i = 0; i < count; ++i) {
    const auto host = starter.string("node" + std::to_string(i / 4));
    entries.push_back({host, starter.string("/path/a.out." + std::to_string(i)), 1 + static_cast<int>(i)});
  }
  starter.put_table(entries);
  const auto table = read(starter, count);
  REQUIRE(table.has_value());
  CHECK(table->string_count() == count + count / 4);  // equal host names share a number, wherever they stand
  CHECK(table->host_numbers()[4] == table->host_numbers()[7]);
  CHECK(table->host_numbers()[3] != table->host_numbers()[4]);
  CHECK(table->executable_name(entry_index{49999}) == "/path/a.out.49999");
  CHECK(table->host_name(entry_index{49999}) == "node12499");
  const std::size_t pages = starter.string_bytes() / read_page_size + 1;
  CHECK(starter.memory.bytes_read <= count * 24 + 24 + starter.string_bytes() + (pages / 128 + 2) * read_page_size);
  CHECK(starter.memory.calls <= 4 + pages / 100 + count * 24 / (512 * 1024) + 1);
}

TEST_CASE("strings are shared whatever the order of their addresses") {
  fake_starter starter;
  std::vector<target_address> hosts;
  for (int i = 0; i < 10000; ++i) hosts.push_back(starter.string("host-" + std::to_string(i)));
  const auto app = starter.string("a.out");
  std::vector<fake_entry> entries;
  for (std::size_t i = 0; i < 40000; ++i) entries.push_back({hosts[i * 7919 % 10000], app, 1 + static_cast<int>(i)});
  starter.put_table(entries);
  const auto table = read(starter, entries.size());
  REQUIRE(table.has_value());
  CHECK(table->string_count() == 10001);
  for (std::size_t i = 0; i < entries.size(); i += 997) {
    CHECK(table->host_name(entry_index{i}) == "host-" + std::to_string(i * 7919 % 10000));
  }
}

TEST_CASE("a copy of the same string for each rank is kept once") {
  fake_starter starter;
  std::vector<fake_entry> entries;
  for (int i = 0; i < 5000; ++i) {
    const auto host = starter.string("n1");
    entries.push_back({host, starter.string("/path/a.out"), 1 + i});
  }
  starter.put_table(entries);
  const auto table = read(starter, entries.size());
  REQUIRE(table.has_value());
  CHECK(table->string_count() == 2);
  CHECK(table->host_numbers()[0] == table->host_numbers()[4999]);
}

TEST_CASE("the same string for host and executable has one number") {
  fake_starter starter;
  const auto both = starter.string("same");
  starter.put_table({{both, both, 5}});
  const auto table = read(starter, 1);
  REQUIRE(table.has_value());
  CHECK(table->string_count() == 1);
  CHECK(table->host_numbers()[0] == table->executable_numbers()[0]);
}

TEST_CASE("a string that crosses pages, and one that ends on the last mapped byte") {
  fake_starter starter;
  starter.skip(read_page_size - 3);
  const auto crossing = starter.string("crossing");
  starter.skip(2 * read_page_size - starter.string_bytes() - 5);
  const auto last = starter.string("last");
  REQUIRE(starter.string_bytes() == 2 * read_page_size);
  starter.put_table({{crossing, last, 1}});
  const auto table = read(starter, 1);
  REQUIRE(table.has_value());
  CHECK(table->host_name(entry_index{0}) == "crossing");
  CHECK(table->executable_name(entry_index{0}) == "last");
  CHECK(table->problem_count() == 0);
}

TEST_CASE("tables are the same processes by contents, not by address") {
  fake_starter starter;
  const auto n1 = starter.string("n1");
  const auto again = starter.string("n1");
  const auto n2 = starter.string("n2");
  starter.put_table({{n1, n1, 1}, {n1, n2, 2}});
  starter.put_table({{n1, again, 1}, {again, n2, 2}}, target_address{0x5000000});
  starter.put_table({{n1, n1, 1}, {n1, n1, 2}}, target_address{0x6000000});
  starter.put_table({{n1, n1, 1}, {n1, n2, 3}}, target_address{0x7000000});
  starter.put_table({{n1, n1, 1}, {n1, target_address{0}, 2}}, target_address{0x8000000});
  const auto at = [&](std::uint64_t base, std::uint64_t entries) {
    return read_process_table(starter.memory, starter.abi, starter.layout, target_address{base}, entries).value();
  };
  const process_table first = at(0x4000000, 2);
  CHECK(first.same_processes(at(0x4000000, 2)));
  CHECK(first.same_processes(at(0x5000000, 2)));
  CHECK_FALSE(first.same_processes(at(0x4000000, 1)));
  CHECK_FALSE(first.same_processes(at(0x6000000, 2)));
  CHECK_FALSE(first.same_processes(at(0x7000000, 2)));
  CHECK_FALSE(first.same_processes(at(0x8000000, 2)));
  CHECK(process_table().same_processes(process_table()));
}
