// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the command's report of a large job allocates beside the process table: the command's own code.
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "catch.hpp"
#include "fake_target.hpp"
#include "mpiacq/job/process_table.hpp"
#include "peak_allocated.hpp"
#include "table_report.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

constexpr std::size_t entries = 200'000;
constexpr std::size_t ranks_on_host = 64;

/// A string that stands as malloc would have placed it.
target_address aligned_string(fake_starter& starter, const std::string& text) {
  const target_address at = starter.string(text);
  starter.skip((16 - starter.string_bytes() % 16) % 16);
  return at;
}

/// A starter's table. Gives the bytes that the table has there, with its strings.
std::size_t put_table(fake_starter& starter, bool own_strings) {
  std::vector<fake_entry> table;
  target_address host, executable;
  for (std::size_t i = 0; i < entries; ++i) {
    const std::string number = std::to_string(10'000'000 + i);
    if (own_strings || i % ranks_on_host == 0) host = aligned_string(starter, "node" + number);
    if (own_strings || i == 0) executable = aligned_string(starter, "/scratch/project/bin/solver." + number);
    table.push_back({host, executable, static_cast<std::int64_t>(1 + i)});
  }
  starter.put_table(table);
  return entries * 24 + starter.string_bytes();
}

void write_report(const process_table& table, bool json) {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  REQUIRE(nowhere >= 0);
  CHECK(write_table_report(table, json, nowhere) == 0);
  ::close(nowhere);
}

}  // namespace

TEST_CASE("a table and its report allocate at most one and a half times what the table has in the starter") {
  if (!counts_peaks()) MPIACQ_SKIP("allocations are counted by AddressSanitizer's hooks only");
  const bool own_strings = GENERATE(false, true), json = GENERATE(false, true);
  INFO((own_strings ? "own" : "shared") << " strings, " << (json ? "JSON" : "text"));
  fake_starter starter;
  const std::size_t bytes = put_table(starter, own_strings);
  const std::size_t peak = peak_allocated_by([&] {
    const auto table = read_process_table(starter.memory, starter.abi, starter.layout, fake_starter::table, entries);
    REQUIRE(table.has_value());
    write_report(*table, json);
  });
  // Three buffers for the table and three for the pages of strings, a block of text, and what a report is kept in.
  constexpr std::size_t buffers = (3U * 512U << 10U) + (3U << 20U) + (4U << 20U) + (1U << 20U);
  CHECK(peak <= bytes + bytes / 2 + buffers);
}

TEST_CASE("a report allocates less than half of what the table has in the starter") {
  if (!counts_peaks()) MPIACQ_SKIP("allocations are counted by AddressSanitizer's hooks only");
  const bool own_strings = GENERATE(false, true), json = GENERATE(false, true);
  INFO((own_strings ? "own" : "shared") << " strings, " << (json ? "JSON" : "text"));
  fake_starter starter;
  const std::size_t bytes = put_table(starter, own_strings);
  const auto table = read_process_table(starter.memory, starter.abi, starter.layout, fake_starter::table, entries);
  REQUIRE(table.has_value());
  const std::size_t peak = peak_allocated_by([&] { write_report(*table, json); });
  CHECK(peak <= bytes / 2);
}
