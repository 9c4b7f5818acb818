// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A graph of the size that the interface was designed for: the test counts opens and reads, not time.
#include <cstring>

#include "catch.hpp"
#include "fake_job.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

TEST_CASE("a thousand directories with a million processes: each opened once, a few reads for each") {
  constexpr std::int32_t directories = 1000, ranks_each = 1000, metadirectories = 10;
  fake_job job;
  for (std::int32_t m = 0; m < metadirectories; ++m) {
    fake_mpi_process& meta = job.add("m" + std::to_string(m), 1);
    meta.info.mpi_flags = 0x01;
    std::vector<fake_entry> others, mine;
    for (std::int32_t i = 0; i < metadirectories; ++i) {
      if (i != m) others.push_back({meta.string("m" + std::to_string(i)), meta.string("/metad"), 1});
    }
    for (std::int32_t i = m; i < directories; i += metadirectories) {
      mine.push_back({meta.string("n" + std::to_string(i)), meta.string("/dird"), 2});
    }
    meta.put_metadirectories(others, m % 2 == 0);
    meta.put_directories(mine, m % 2 == 1);
  }
  for (std::int32_t i = 0; i < directories; ++i) {
    fake_mpi_process& d = job.add("n" + std::to_string(i), 2);
    d.info.mpi_flags = 0x02;
    d.meta("m" + std::to_string(i % metadirectories), 1, "/metad");
    const auto host = d.string("n" + std::to_string(i)), app = d.string("/home/user/app"), world = d.string("w0");
    const auto child = d.string("w1"), spawn = d.spawn(world, 0, 0);
    std::vector<fake_rank> ranks;
    ranks.reserve(ranks_each);
    for (std::int32_t r = 0; r < ranks_each; ++r) {
      const bool spawned = r % 2 == 1;
      ranks.push_back(
          {host, app, spawned ? spawn : target_address{}, spawned ? child : world, 1000 + r, (i * ranks_each + r) / 2});
    }
    d.put_processes(ranks);
  }
  job.publish();

  const auto g = mpi2dd::walk({"n77", process_id{2}, "/dird"}, job.opener());
  REQUIRE(g.has_value());
  CHECK(g->process_count() == 1000000 + directories + metadirectories);
  CHECK(job.opens() == directories + metadirectories);
  // Info, its strings, three reads of a process table, the last look; a table of directories takes two, or four where
  // the stride has to be found out.
  CHECK(job.reads() <= directories * 6 + metadirectories * 12);
  REQUIRE(g->worlds().size() == 2);
  CHECK(g->worlds()[0].processes == 500000);
  CHECK(g->worlds()[1].processes == 500000);
  REQUIRE(g->spawns().size() == 1);
  CHECK(g->spawns()[0].parent == g->find("n0", process_id{1000}));
  CHECK(g->disagreement_count() == 0);
  CHECK(g->visits().size() == directories + metadirectories);
  std::size_t strange = 0;
  for (const mpi2dd::visit& v : g->visits()) strange += v.state != mpi2dd::visit_state::read || v.depth > 3 ? 1U : 0U;
  CHECK(strange == 0);
  const auto members = g->members(*g->find_world("w1"));
  for (std::size_t i = 0; i < members.size(); i += 99991) {
    CHECK(g->rank(members[i]) == static_cast<std::int32_t>(i));
  }
}
