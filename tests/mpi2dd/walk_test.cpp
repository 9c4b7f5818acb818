// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A walk finds the whole graph from any process of the job.
#include <csignal>
#include <thread>

#include "catch.hpp"
#include "fake_job.hpp"
#include "walked.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using mpi2dd::graph;
using mpi2dd::process_number;

namespace {

constexpr std::uint32_t metadir = 0x01, dir = 0x02, starter = 0x04;

/// Two metadirectories that list each other, three directories under them, one of them the starter with an empty table,
/// and two worlds: w0 of four ranks in two directories, w1 of two, spawned by rank 3 of w0.
void build(fake_job& job, const target_abi& abi) {
  fake_mpi_process& m1 = job.add("n1", 10, abi);
  m1.info.mpi_flags = metadir;
  m1.put_directories({{m1.string("n1"), m1.string("/dird"), 20}, {m1.string("n2"), m1.string("/dird"), 21}});
  m1.put_metadirectories({{m1.string("n2"), m1.string("/metad"), 11}});
  fake_mpi_process& m2 = job.add("n2", 11, abi);
  m2.info.mpi_flags = metadir;
  m2.put_directories({{m2.string("n3"), m2.string("/mpirun"), 30}});
  m2.put_metadirectories({{m2.string("n1"), m2.string("/metad"), 10}});

  fake_mpi_process& d1 = job.add("n1", 20, abi);
  d1.info.mpi_flags = dir;
  d1.meta("n1", 10, "/metad");
  const auto w0 = d1.string("w0");
  d1.put_processes(
      {{d1.string("n1"), d1.string("/app"), {}, w0, 100, 0}, {d1.string("n1"), d1.string("/app"), {}, w0, 101, 1}});
  fake_mpi_process& d2 = job.add("n2", 21, abi);
  d2.info.mpi_flags = dir;
  d2.meta("n1", 10, "/metad");
  const auto v0 = d2.string("w0"), v1 = d2.string("w1");
  const auto s = d2.spawn(v0, 3, 0);
  const auto n2 = d2.string("n2"), app = d2.string("/app"), child = d2.string("/child");
  d2.put_processes(
      {{n2, app, {}, v0, 103, 3}, {n2, app, {}, v0, 102, 2}, {n2, child, s, v1, 104, 0}, {n2, child, s, v1, 105, 1}});
  fake_mpi_process& start = job.add("n3", 30, abi);
  start.info.mpi_flags = dir | starter;
  start.meta("n2", 11, "/metad");
  fake_mpi_process& rank = job.add("n2", 105, abi);
  rank.meta("n1", 10, "/metad");
  job.publish();
}

process_number named(const graph& g, const std::string& host, std::int32_t pid) {
  const auto found = g.find(host, process_id{pid});
  INFO(host << ':' << pid);
  REQUIRE(found.has_value());
  return *found;
}

void check_whole(const graph& g) {
  CHECK(g.process_count() == 11);
  REQUIRE(g.worlds().size() == 2);
  const auto w0 = g.find_world("w0"), w1 = g.find_world("w1");
  REQUIRE((w0 && w1));
  const auto members = g.members(*w0);
  REQUIRE(members.size() == 4);
  CHECK(g.worlds()[index(*w0)].processes == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(g.pid(members[i]) == process_id{100 + static_cast<std::int64_t>(i)});
    CHECK(g.rank(members[i]) == static_cast<std::int32_t>(i));
    CHECK(g.executable(members[i]) == "/app");
    CHECK_FALSE(g.spawn_of(members[i]).has_value());
    CHECK(g.mentions(members[i]) == 1);
  }
  CHECK(g.members(*w1).size() == 2);
  REQUIRE(g.spawns().size() == 1);
  const mpi2dd::spawn& s = g.spawns()[0];
  CHECK(s.parent_world == w0);
  CHECK(s.parent_rank == 3);
  CHECK(s.sequence == 0);
  CHECK(s.parent == named(g, "n2", 103));
  CHECK(g.worlds()[index(*w1)].spawn == g.spawn_of(named(g, "n2", 104)));
  CHECK_FALSE(g.worlds()[index(*w0)].spawn.has_value());
  CHECK(g.disagreement_count() == 0);
  const mpi2dd::visit* m1 = g.visit_of(named(g, "n1", 10));
  REQUIRE(m1 != nullptr);
  CHECK(m1->is_metadirectory());
  CHECK(m1->directories.entries == std::vector{named(g, "n1", 20), named(g, "n2", 21)});
  CHECK(m1->metadirectories.entries == std::vector{named(g, "n2", 11)});
  CHECK(g.is_listed_as_directory(named(g, "n3", 30)));
  CHECK(g.visit_of(named(g, "n3", 30))->is_starter());
  CHECK(g.is_listed_as_metadirectory(named(g, "n2", 11)));
  CHECK(g.visit_of(named(g, "n1", 20))->meta == named(g, "n1", 10));
  CHECK_FALSE(g.is_rank(named(g, "n1", 20)));
  for (const mpi2dd::visit& v : g.visits()) {
    CHECK(v.state == mpi2dd::visit_state::read);
    CHECK_FALSE(v.failure.has_value());
    CHECK(v.warnings.empty());
  }
}

}  // namespace

TEST_CASE("a walk finds the whole graph from any process, on every ABI") {
  for (const target_abi& abi : every_abi) {
    for (const auto& [host, pid] : std::vector<std::pair<std::string, int>>{
             {"n1", 10}, {"n2", 11}, {"n1", 20}, {"n2", 21}, {"n3", 30}, {"n2", 105}}) {
      for (const unsigned threads : {1U, 8U}) {
        INFO(abi_title(abi) << " from " << host << ':' << pid << " with " << threads);
        fake_job job;
        build(job, abi);
        mpi2dd::walk_options options;
        options.threads = threads;
        const graph g = walked(job, host, pid, options);
        check_whole(g);
        CHECK(g.start() == named(g, host, pid));
        CHECK(job.opens() == (pid == 105 ? 6 : 5));  // mere ranks are not opened
        for (const mpi2dd::visit& v : g.visits()) {
          const auto& p = job.at(std::string{*g.host(v.process)}, static_cast<std::int32_t>(g.pid(v.process).value()));
          CHECK(p.opens == 1);
          CHECK(p.memory.calls <= 9);
        }
      }
    }
  }
}

TEST_CASE("processes of one job may have different ABIs") {
  fake_job job;
  build(job, lp64_little);
  fake_mpi_process& d = job.add("n1", 20, ilp32_big);
  d.info.mpi_flags = dir;
  d.meta("n1", 10, "/metad");
  const auto w0 = d.string("w0"), n1 = d.string("n1"), app = d.string("/app");
  d.put_processes({{n1, app, {}, w0, 100, 0}, {n1, app, {}, w0, 101, 1}});
  job.publish();
  check_whole(walked(job, "n2", 105));
}

TEST_CASE("the graph does not depend on the speed of the threads") {
  std::vector<std::string> first;
  for (int round = 0; round < 8; ++round) {
    fake_job job;
    build(job, lp64_little);
    mpi2dd::walk_options options;
    options.threads = round == 0 ? 1 : 8;
    const graph g = walked(job, "n2", 105, options);
    std::vector<std::string> names;
    for (std::uint32_t p = 0; p < g.process_count(); ++p) {
      names.push_back(std::string{*g.host(process_number{p})} + std::to_string(g.pid(process_number{p}).value()));
    }
    if (round == 0) first = names;
    CHECK(names == first);
  }
}

TEST_CASE("a metadirectory that is also the only directory, with null tables") {
  fake_job job;
  fake_mpi_process& only = job.add("n1", 10);
  only.info.mpi_flags = metadir | dir | starter;
  only.put_processes({{only.string("n1"), only.string("/app"), {}, only.string("w"), 100, 0}});
  fake_mpi_process& rank = job.add("n1", 100);
  rank.meta("n1", 10);
  job.publish();
  for (const std::int32_t from : {10, 100}) {
    const graph g = walked(job, "n1", from);
    CHECK(g.process_count() == 2);
    CHECK(g.worlds().size() == 1);
    CHECK(g.rank(named(g, "n1", 100)) == 0);
  }
}

TEST_CASE("a rank that is a directory stands in its own process table") {
  fake_job job;
  fake_mpi_process& p = job.add("n1", 100);
  p.info.mpi_flags = metadir | dir;
  p.put_processes({{p.string("n1"), p.string("/app"), {}, p.string("w"), 100, 0}});
  job.publish();
  const graph g = walked(job, "n1", 100);
  CHECK(g.process_count() == 1);
  CHECK(g.is_rank(g.start()));
  CHECK(g.rank(g.start()) == 0);
  CHECK(g.visits()[0].is_directory());
  CHECK(g.visits()[0].warnings.empty());
  CHECK(job.opens() == 1);
}

TEST_CASE(
    "a process that lists itself as directory or metadirectory, or names itself its metadirectory, is not followed") {
  fake_job job;
  fake_mpi_process& m = job.add("n1", 10);
  m.info.mpi_flags = metadir;
  m.meta("n1", 10);
  m.put_directories({{m.string("n1"), m.string("/m"), 10}});
  m.put_metadirectories({{{}, m.string("/m"), 10}});  // by a null host: its own
  job.publish();
  const graph g = walked(job, "n1", 10);
  CHECK(g.process_count() == 1);
  CHECK(job.opens() == 1);
  CHECK(g.visits()[0].directories.lists_itself);
  CHECK(g.visits()[0].metadirectories.lists_itself);
  CHECK_FALSE(g.visits()[0].meta.has_value());
  CHECK_FALSE(g.is_listed_as_directory(g.start()));
  CHECK(g.visits()[0].warnings.size() == 2);
}

TEST_CASE("a null or empty host name is the host of the table's process") {
  fake_job job;
  fake_mpi_process& d = job.add("n7", 20);
  d.info.mpi_flags = dir;
  d.put_processes({{{}, {}, {}, d.string("w"), 100, 0}, {d.string(""), d.string(""), {}, d.string("w"), 101, 1}});
  job.publish();
  const graph g = walked(job, "n7", 20);
  CHECK(g.host(named(g, "n7", 100)) == "n7");
  CHECK(g.host(named(g, "n7", 101)) == "n7");
  CHECK_FALSE(g.executable(named(g, "n7", 100)).has_value());
  CHECK_FALSE(g.executable(named(g, "n7", 101)).has_value());
  CHECK(g.visits()[0].processes.problem_count == 0);
}

TEST_CASE("several names of one host are one host if the caller maps them") {
  fake_job job;
  fake_mpi_process& m = job.add("n1", 10);
  m.info.mpi_flags = metadir;
  m.put_directories({{m.string("127.0.0.1"), {}, 20}, {m.string("localhost"), {}, 20}, {m.string("n1"), {}, 20}});
  fake_mpi_process& d = job.add("n1", 20);
  d.meta("localhost", 10);
  job.publish();
  CHECK(walked(job, "n1", 10).process_count() == 5);  // as bytes they are three hosts, and two cannot be opened
  job.opened.clear();
  mpi2dd::walk_options options;
  options.canonical_host = [](std::string_view name) {
    return std::string{name == "127.0.0.1" || name == "localhost" ? "n1" : name};
  };
  const graph g = walked(job, "localhost", 10, options);
  CHECK(g.process_count() == 2);
  CHECK(job.opens() == 2);
}

TEST_CASE("threads of the walk have all signals blocked, and the caller's mask stays") {
  fake_job job;
  fake_mpi_process& m = job.add("n1", 1);
  std::vector<fake_entry> entries;
  for (int i = 0; i < 64; ++i) {
    job.add("n1", 100 + i);
    entries.push_back({m.string("n1"), {}, 100 + i});
  }
  m.put_directories(entries);
  job.publish();
  std::mutex mutex;
  std::map<std::thread::id, bool> blocked;
  const auto open = [&](std::string_view host, process_id pid, std::string_view executable) {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    {
      const std::lock_guard lock(mutex);
      blocked[std::this_thread::get_id()] = sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGCHLD) == 1;
    }
    return job.opener()(host, pid, executable);
  };
  mpi2dd::walk_options options;
  options.threads = 4;
  REQUIRE(mpi2dd::walk({"n1", process_id{1}, ""}, open, options).has_value());
  CHECK(blocked.size() <= 4);
  for (const auto& [thread, is_blocked] : blocked) {
    CHECK(is_blocked == (thread != std::this_thread::get_id()));
  }
}

TEST_CASE("a walk without an opener, or from an impossible pid, is refused") {
  fake_job job;
  CHECK(mpi2dd::walk({"n1", process_id{1}, ""}, {}).error().code == error_code::invalid_argument);
  CHECK(mpi2dd::walk({"n1", process_id{0}, ""}, job.opener()).error().code == error_code::invalid_argument);
  CHECK(job.opens() == 0);
}
