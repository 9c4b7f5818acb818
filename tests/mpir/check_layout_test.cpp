// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "fake_target.hpp"
#include "mpiacq/job/process_table.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// The result of checking the inferred layout against a table that has the starter's own layout.
result<void> check(fake_starter& starter, std::uint64_t entries) {
  return check_layout_against_data(starter.memory, starter.abi, inferred_descriptor_layout(starter.abi),
                                   fake_starter::table, entries);
}

std::vector<fake_entry> job(fake_starter& starter, std::size_t ranks) {
  std::vector<fake_entry> entries;
  const auto app = starter.string("/path/a.out");
  for (std::size_t i = 0; i < ranks; ++i) {
    entries.push_back({starter.string("n" + std::to_string(i / 2)), app, 3000 + static_cast<int>(i)});
  }
  return entries;
}

/// The starter's layout with the fields at these places.
void lay_out(fake_starter& starter, std::uint64_t size, std::uint64_t host, std::uint64_t executable, std::uint64_t pid,
             std::uint64_t pid_size) {
  starter.layout.size = size;
  starter.layout.members[0].offset = host;
  starter.layout.members[1].offset = executable;
  starter.layout.members[2].offset = pid;
  starter.layout.members[2].size = pid_size;
}

}  // namespace

TEST_CASE("the inferred layout fits tables of every ABI and size") {
  for (const target_abi& abi : every_abi) {
    for (const std::size_t ranks : {1U, 2U, 64U, 65U, 500U}) {
      INFO(abi_title(abi) << ", " << ranks << " ranks");
      fake_starter starter(abi);
      starter.put_table(job(starter, ranks));
      CHECK(check(starter, ranks).has_value());
    }
  }
}

TEST_CASE("the check reads a few entries, not the table") {
  fake_starter starter;
  starter.put_table(job(starter, 100000));
  CHECK(check(starter, 100000).has_value());
  CHECK(starter.memory.calls <= 3);
  CHECK(starter.memory.bytes_read < 64 * 24 + 24 + 4 * read_page_size);
}

TEST_CASE("structures of another layout are refused for any number of ranks") {
  for (const std::size_t ranks : {1U, 2U, 3U, 100U}) {
    INFO(ranks << " ranks");
    fake_starter pid_first;
    lay_out(pid_first, 24, 8, 16, 0, 4);
    pid_first.put_table(job(pid_first, ranks));
    CHECK_FALSE(check(pid_first, ranks).has_value());

    fake_starter extra_first;
    lay_out(extra_first, 32, 8, 16, 24, 4);
    extra_first.put_table(job(extra_first, ranks));
    CHECK_FALSE(check(extra_first, ranks).has_value());

    fake_starter wide_pid_of_big_endian(lp64_big);
    lay_out(wide_pid_of_big_endian, 24, 0, 8, 16, 8);
    wide_pid_of_big_endian.put_table(job(wide_pid_of_big_endian, ranks));
    CHECK_FALSE(check(wide_pid_of_big_endian, ranks).has_value());

    if (ranks == 1) continue;  // nothing stands behind the one entry
    fake_starter longer;
    lay_out(longer, 40, 0, 8, 16, 4);
    longer.put_table(job(longer, ranks));
    const auto refused = check(longer, ranks);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == error_code::bad_format);
    CHECK_THAT(refused.error().message,
               ContainsSubstring("entry 1 of the process table, at 0x4000018, contradicts the descriptor's layout "
                                 "(host_name at 0, executable_name at 8, pid at 16, 24 bytes each)"));
    CHECK(refused.error().address == target_address{0x4000018});
  }
}

TEST_CASE("a bad field in the table is no evidence against the layout") {
  fake_starter starter;
  std::vector<fake_entry> entries = job(starter, 8);
  SECTION("host names that were never set") {
    for (fake_entry& e : entries) e.host_name = target_address{0xdead0000};
  }
  SECTION("executables that are null") {
    for (fake_entry& e : entries) e.executable_name = target_address{0};
  }
  SECTION("no strings at all") {
    for (fake_entry& e : entries) e = {target_address{0}, target_address{0}, e.pid};
  }
  SECTION("one entry that was never filled") {
    entries[3] = {};
  }
  SECTION("one entry of garbage") {
    entries[3] = {target_address{0x10}, target_address{0x20}, -559038737};
  }
  starter.put_table(entries);
  CHECK(check(starter, entries.size()).has_value());
}

TEST_CASE("the error names the entry that contradicts the layout, and its fields") {
  fake_starter starter;
  const auto bell = starter.string("\a");
  starter.put_table({{bell, target_address{0x10}, 17}});
  const auto strings = check(starter, 1);
  REQUIRE_FALSE(strings.has_value());
  CHECK_THAT(
      strings.error().message,
      ContainsSubstring("entry 0") &&
          ContainsSubstring(
              "host_name points to no printable string at 0x41000000, executable_name to no printable string at 0x10"));
  starter.put_table({{bell, bell, -559038737}});
  CHECK_THAT(check(starter, 1).error().message, ContainsSubstring("host_name"));
  const auto good = starter.string("n1");
  starter.put_table({{good, good, -559038737}});
  CHECK_THAT(check(starter, 1).error().message, ContainsSubstring("its pid reads as -559038737"));
  starter.put_table({{good, good, 0}});
  CHECK_THAT(check(starter, 1).error().message, ContainsSubstring("its pid reads as 0"));
}

TEST_CASE("a table that claims too many entries is checked by the entries that can be read") {
  fake_starter starter;
  starter.put_table(job(starter, 3));
  CHECK(check(starter, 1000).has_value());
  CHECK(check(starter, UINT64_MAX).has_value());
  CHECK(check(starter, 0).has_value());
  const auto nothing = check_layout_against_data(starter.memory, starter.abi, starter.layout, target_address{0x900}, 4);
  REQUIRE_FALSE(nothing.has_value());
  CHECK(nothing.error().code == error_code::unreadable_memory);
}

TEST_CASE("a process that has ended gives an error and no verdict on the layout") {
  fake_starter starter;
  starter.put_table(job(starter, 3));
  starter.memory.process_gone = true;
  CHECK(check(starter, 3).error().code == error_code::process_gone);
}
