// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The parts of the report's page: groups of ranks for the drawing of the waits, and strings inside a page.
#include <cstdio>

#include <unistd.h>

#include "catch.hpp"
#include "report/html/html_text.hpp"
#include "report/html/wait_groups.hpp"
#include "report/json/json_writer.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::tool;

namespace {

rank_report at_line(std::uint32_t rank, const char* function, std::uint32_t line) {
  rank_report made{entry_index{rank}, process_id{100 + rank}, fail(error_code::unsupported, "no queue library")};
  made.doing.function = function;
  made.doing.kind = mpi_call_kind::receive;
  made.doing.at = {"main", "/src/app.c", line};
  return made;
}

/// A ring in which each rank waits for the next one at the same line.
queues_snapshot ring_of(std::uint32_t size) {
  queues_snapshot made;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    made.seen.ranks.push_back(at_line(rank, "MPI_Recv", 10));
    made.waits.waits.push_back({entry_index{rank}, rank_set((rank + 1) % size), false, true, "in MPI_Recv"});
  }
  return made;
}

/// The waits as "0>1", "0>1?" where they are not certain.
std::string edges_of(const wait_groups& drawn) {
  std::string text;
  for (const group_wait& wait : drawn.waits) {
    if (!text.empty()) text += ' ';
    text += drawn.groups.at(wait.from).ranks.text() + ">" + drawn.groups.at(wait.to).ranks.text();
    if (!wait.certain) text += "?";
  }
  return text;
}

/// What a writer makes of a string in a page.
std::string json_in_page(std::string_view text) {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  report_stream out(::fileno(file), false);
  json_writer(out, true).value(text);
  out.flush();
  std::string written(256, '\0');
  written.resize(static_cast<std::size_t>(::pread(::fileno(file), written.data(), written.size(), 0)));
  std::fclose(file);
  return written;
}

}  // namespace

TEST_CASE("each rank of a small job is drawn alone") {
  const wait_groups drawn = grouped_waits(ring_of(3), {});
  REQUIRE(drawn.groups.size() == 3);
  CHECK(drawn.groups[0].doing == "in MPI_Recv at app.c:10");
  CHECK(edges_of(drawn) == "0>1 1>2 2>0");
  CHECK_FALSE(drawn.groups[0].in_deadlock);
}

TEST_CASE("ranks of a large job that are at one place are drawn as one") {
  const wait_groups drawn = grouped_waits(ring_of(4096), {});
  REQUIRE(drawn.groups.size() == 1);
  CHECK(drawn.groups[0].ranks.text() == "0-4095");
  CHECK(drawn.groups[0].waits_inside);
  CHECK(drawn.waits.empty());
}

TEST_CASE("the ranks of the verdict and of a small deadlock are drawn alone in a large job") {
  queues_snapshot seen = ring_of(100);
  for (std::uint32_t rank = 0; rank < 98; ++rank) {
    seen.waits.waits[rank] = {entry_index{rank}, rank_set(99U), false, rank != 5, "in MPI_Barrier"};
  }
  seen.waits.waits[98].to = rank_set(99U);
  seen.waits.waits[99].to = rank_set(98U);
  seen.waits.deadlocks.push_back({{entry_index{98}, entry_index{99}}, true, {}});
  const wait_groups drawn = grouped_waits(seen, rank_set(7U));
  CHECK(edges_of(drawn) == "0-6,8-97>99? 7>99 98>99 99>98");
  for (const wait_group& group : drawn.groups) {
    CHECK(group.in_deadlock == (group.ranks.text() == "98" || group.ranks.text() == "99"));
  }
}

TEST_CASE("a drawing of the waits has few groups, however many places there are") {
  queues_snapshot seen;
  for (std::uint32_t rank = 0; rank < 10'000; ++rank) seen.seen.ranks.push_back(at_line(rank, "MPI_Recv", rank + 1));
  for (std::uint32_t rank = 0; rank + 1 < 10'000; ++rank) {
    seen.waits.waits.push_back({entry_index{rank}, rank_set(rank + 1), false, true, "in MPI_Recv"});
  }
  const wait_groups drawn = grouped_waits(seen, {});
  REQUIRE(drawn.groups.size() == wait_groups::most);
  std::uint64_t ranks = 0;
  for (const wait_group& group : drawn.groups) ranks += group.ranks.count();
  CHECK(ranks == 10'000);
  CHECK(drawn.groups.back().waits_inside);
}

TEST_CASE("ranks that others wait for and that nobody has looked at are a group") {
  queues_snapshot seen = ring_of(2);
  seen.waits.waits[1].to = rank_set(5U);
  const wait_groups drawn = grouped_waits(seen, {});
  CHECK(edges_of(drawn) == "0>1 1>5");
  CHECK(drawn.groups.back().doing == "not looked at");
}

TEST_CASE("no foreign string ends an element of the page") {
  const std::string script = "</script><script>alert('1')</script>&\"\x1b[31m";
  CHECK(html_text(script) == "&lt;/script&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot;\\x1b[31m");
  const std::string written = json_in_page(script);
  CHECK(written.find('<') == std::string::npos);
  CHECK(json::parse(written).get<std::string>() == script);
  CHECK(json_in_page("<!--") == "\"\\u003c!--\"");
}
