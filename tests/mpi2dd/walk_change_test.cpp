// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Tables that change while the walk goes on, and after it.
#include "catch.hpp"
#include "fake_job.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using mpi2dd::graph;

namespace {

graph walked(fake_job& job, const mpi2dd::walk_options& options = {}) {
  auto g = mpi2dd::walk({"n1", process_id{1}, ""}, job.opener(), options);
  if (!g) FAIL(g.error().message);
  return std::move(*g);
}

/// A directory's table of `count` ranks, pids from `first`, at a place of its own.
void publish_ranks(fake_mpi_process& d, std::int32_t first, std::int32_t count, std::uint64_t place = 0) {
  std::vector<fake_rank> ranks;
  for (std::int32_t i = 0; i < count; ++i) {
    ranks.push_back({d.string("n1"), d.string("/app"), {}, d.string("w"), first + i, i});
  }
  d.put_processes(ranks, fake_mpi_process::proctable_at + place);
  d.publish();
}

std::set<std::int64_t> listed(const graph& g, const mpi2dd::listing& table) {
  std::set<std::int64_t> pids;
  for (const auto p : table.entries) pids.insert(g.pid(p).value());
  return pids;
}

}  // namespace

TEST_CASE("a table that changes while it is read is read again") {
  fake_job job;
  fake_mpi_process& d = job.add("n1", 1);
  d.info.mpi_flags = 0x02;
  publish_ranks(d, 100, 2);
  // After the info block and its strings (none here), before the table.
  d.before_read = [](fake_mpi_process& p, std::size_t calls) {
    if (calls == 2) publish_ranks(p, 200, 3, 0x10000);
  };
  const graph g = walked(job);
  const mpi2dd::visit& v = g.visits()[0];
  CHECK(v.rereads == 1);
  CHECK_FALSE(v.unsettled);
  CHECK(listed(g, v.processes) == std::set<std::int64_t>{200, 201, 202});
  CHECK(g.worlds()[0].processes == 3);
  CHECK(g.process_count() == 4);
}

TEST_CASE("a table that changes at every reading is read a few times, and the last reading is kept") {
  fake_job job;
  fake_mpi_process& d = job.add("n1", 1);
  d.info.mpi_flags = 0x02;
  publish_ranks(d, 100, 2);
  std::int32_t generation = 0;
  d.before_read = [&](fake_mpi_process& p, std::size_t) {
    ++generation;
    publish_ranks(p, 100 + generation, 2, 0x1000U * static_cast<std::uint32_t>(generation % 2));
  };
  mpi2dd::walk_options options;
  options.limits.max_rereads = 3;
  const graph g = walked(job, options);
  const mpi2dd::visit& v = g.visits()[0];
  CHECK(v.state == mpi2dd::visit_state::read);
  CHECK(v.rereads <= 3);
  CHECK(d.memory.calls < 30);
  CHECK(d.opens == 1);
}

TEST_CASE("only the table that changed is read again") {
  fake_job job;
  fake_mpi_process& d = job.add("n1", 1);
  d.info.mpi_flags = 0x03;
  d.put_directories({{d.string("n2"), d.string("/dird"), 5}});
  publish_ranks(d, 100, 2);
  std::size_t directory_reads = 0;
  d.before_read = [&](fake_mpi_process& p, std::size_t calls) {
    if (calls == 2) publish_ranks(p, 200, 3, 0x10000);
  };
  const graph g = walked(job);
  directory_reads = d.memory.calls;
  // Twice info, its check, proctable and its strings; once the table of directories and its strings.
  CHECK(directory_reads == 1 + 2 + 2 + 1 + 1 + 2 + 1);
  CHECK(listed(g, g.visits()[0].processes).size() == 3);
}

TEST_CASE("a refresh reads the requested tables, and walks on to new processes") {
  fake_job job;
  fake_mpi_process& m = job.add("n1", 1);
  m.info.mpi_flags = 0x03;
  m.put_directories({{m.string("n1"), m.string("/dird"), 2}});
  publish_ranks(m, 100, 2);
  fake_mpi_process& d = job.add("n1", 2);
  d.info.mpi_flags = 0x02;
  d.put_processes({{d.string("n1"), d.string("/app"), {}, d.string("w"), 300, 30}});
  fake_mpi_process& later = job.add("n1", 3);
  later.info.mpi_flags = 0x02;
  later.put_processes({{later.string("n1"), later.string("/app"), later.spawn(later.string("w"), 30, 0),
                        later.string("child"), 400, 0}});
  job.publish();
  graph g = walked(job);
  CHECK(g.process_count() == 5);
  const auto before = g.find("n1", process_id{101});
  REQUIRE(before.has_value());

  m.put_directories({{m.string("n1"), m.string("/dird"), 2}, {m.string("n1"), m.string("/dird"), 3}}, true,
                    fake_mpi_process::directories_at + 0x1000);
  publish_ranks(m, 101, 2, 0x10000);
  job.opened.clear();
  SECTION("all tables") {
    REQUIRE(mpi2dd::refresh(g, g.start(), {}, job.opener()).has_value());
    CHECK(job.opened == std::vector<std::string>{"n1:1 ", "n1:3 /dird"});
    CHECK(g.find("n1", process_id{101}) == before);  // numbers stay
    CHECK(g.rank(*before) == 0);                     // what its table says now
    CHECK(g.disagreement_count() == 0);
    const auto left = g.find("n1", process_id{100});
    REQUIRE(left.has_value());
    CHECK(g.mentions(*left) == 0);
    CHECK(g.mentions(*before) == 1);
    CHECK(g.find_world("child").has_value());
    REQUIRE(g.spawns().size() == 1);
    CHECK(g.spawns()[0].parent == g.find("n1", process_id{300}));
  }
  SECTION("only the process table") {
    REQUIRE(mpi2dd::refresh(g, g.start(), {true, false, false}, job.opener()).has_value());
    CHECK(job.opened.size() == 1);
    CHECK_FALSE(g.find("n1", process_id{3}).has_value());
    CHECK(listed(g, g.visits()[0].processes) == std::set<std::int64_t>{101, 102});
  }
  SECTION("of a process that is gone by now: what was read stands") {
    job.remove("n1", 1);
    REQUIRE(mpi2dd::refresh(g, g.start(), {}, job.opener()).has_value());
    CHECK(g.visits()[0].state == mpi2dd::visit_state::read);
    REQUIRE(g.visits()[0].failure.has_value());
    CHECK(listed(g, g.visits()[0].processes) == std::set<std::int64_t>{100, 101});
  }
}

TEST_CASE("a refresh of a mere rank opens it for the first time") {
  fake_job job;
  fake_mpi_process& d = job.add("n1", 1);
  d.info.mpi_flags = 0x02;
  publish_ranks(d, 100, 1);
  fake_mpi_process& rank = job.add("n1", 100);
  rank.meta("n1", 1);
  rank.publish();
  graph g = walked(job);
  const auto p = g.find("n1", process_id{100});
  REQUIRE(p.has_value());
  CHECK(g.visit_of(*p) == nullptr);
  REQUIRE(mpi2dd::refresh(g, *p, {}, job.opener()).has_value());
  REQUIRE(g.visit_of(*p) != nullptr);
  CHECK(g.visit_of(*p)->meta == g.start());
  CHECK(d.opens == 1);
}
