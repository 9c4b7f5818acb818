// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The graph records a fault with its process or table, and the walk finds the rest.
#include <stdexcept>

#include "catch.hpp"
#include "fake_job.hpp"
#include "walked.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using mpi2dd::graph;
using mpi2dd::process_number;
using mpi2dd::visit_state;

namespace {

const mpi2dd::visit& visit_of(const graph& g, const std::string& host, std::int32_t pid) {
  const auto p = g.find(host, process_id{pid});
  REQUIRE(p.has_value());
  const mpi2dd::visit* v = g.visit_of(*p);
  REQUIRE(v != nullptr);
  return *v;
}

void one_rank(fake_mpi_process& d, std::int32_t pid, std::int32_t rank, const std::string& world = "w") {
  d.info.mpi_flags = 0x02;
  d.put_processes({{d.string("n1"), d.string("/app"), {}, d.string(world), pid, rank}});
}

/// A metadirectory n1:1 with directories n1:2 to n1:6. The last one has no fault.
fake_mpi_process& five_directories(fake_job& job) {
  fake_mpi_process& m = job.add("n1", 1);
  m.info.mpi_flags = 0x01;
  std::vector<fake_entry> entries;
  for (int i = 2; i <= 6; ++i) entries.push_back({m.string(i == 3 ? "far" : "n1"), m.string("/dird"), i});
  m.put_directories(entries);
  one_rank(job.add("n1", 6), 106, 6);
  return m;
}

}  // namespace

TEST_CASE("processes that ended, are unreachable, lack the interface or have another version keep that state") {
  fake_job job;
  five_directories(job);
  job.unreachable_hosts.insert("far");  // n1:2 is no process at all
  job.add("n1", 4).symbols.remove("MPI2DD_info");
  job.add("n1", 5).info.version = 3;
  job.publish();
  const graph g = walked(job, "n1", 1);
  CHECK(visit_of(g, "n1", 2).state == visit_state::unreachable);
  CHECK(visit_of(g, "n1", 2).failure->code == error_code::process_gone);
  CHECK(visit_of(g, "far", 3).state == visit_state::unreachable);
  CHECK(visit_of(g, "far", 3).failure->code == error_code::unsupported);
  CHECK(visit_of(g, "n1", 4).state == visit_state::no_interface);
  CHECK_FALSE(visit_of(g, "n1", 4).failure.has_value());
  CHECK(visit_of(g, "n1", 5).state == visit_state::unreadable);
  CHECK(visit_of(g, "n1", 5).failure->code == error_code::unsupported);
  CHECK(visit_of(g, "n1", 6).state == visit_state::read);
  CHECK(g.find("n1", process_id{106}).has_value());
  CHECK(job.opens() == 6);
}

TEST_CASE("a start that cannot be opened gives a graph of this one process") {
  fake_job job;
  const graph g = walked(job, "n1", 1);
  CHECK(g.process_count() == 1);
  REQUIRE(g.visits().size() == 1);
  CHECK(g.visits()[0].state == visit_state::unreachable);
}

TEST_CASE("a directory that dies while it is read keeps what was read of it") {
  // At every read in turn: before the info block, within the tables, and at the last look.
  for (std::size_t dies_at = 0; dies_at < 8; ++dies_at) {
    INFO("at read " << dies_at);
    fake_job job;
    fake_mpi_process& m = job.add("n1", 1);
    m.info.mpi_flags = 0x01;
    m.put_directories({{m.string("n1"), m.string("/dird"), 2}, {m.string("n1"), m.string("/dird"), 6}});
    fake_mpi_process& d = job.add("n1", 2);
    d.info.mpi_flags = 0x03;
    d.meta("n1", 1);
    d.put_processes({{d.string("n1"), d.string("/app"), {}, d.string("w"), 102, 2}});
    d.put_directories({{d.string("n1"), d.string("/dird"), 7}});
    one_rank(job.add("n1", 6), 106, 6);
    one_rank(job.add("n1", 7), 107, 7);
    d.before_read = [&](fake_mpi_process& p, std::size_t calls) { p.memory.process_gone = calls >= dies_at; };
    job.publish();
    const graph g = walked(job, "n1", 1);
    const mpi2dd::visit& v = visit_of(g, "n1", 2);
    CHECK(g.find("n1", process_id{106}).has_value());
    if (dies_at < 7) {
      REQUIRE(v.failure.has_value());
      CHECK(v.failure->code == error_code::process_gone);
    }
    CHECK(v.state == (dies_at < 2 ? visit_state::unreadable : visit_state::read));
    CHECK(g.find("n1", process_id{102}).has_value() == (dies_at >= 4));  // table, strings
    CHECK(g.find("n1", process_id{107}).has_value() == (dies_at >= 6));
    if (dies_at == 3) CHECK(v.processes.failure->code == error_code::process_gone);
  }
}

TEST_CASE("tables that cannot be read are failures of those tables") {
  fake_job job;
  fake_mpi_process& m = job.add("n1", 1);
  m.info.mpi_flags = 0x03;
  m.info.proctable_size = -4;
  m.info.directory_size = 2;  // of a null table
  m.put_metadirectories({{m.string("n1"), m.string("/m"), 6}});
  m.info.metadirectory_size = 100;
  one_rank(job.add("n1", 6), 106, 6);
  job.publish();
  const graph g = walked(job, "n1", 1);
  const mpi2dd::visit& v = visit_of(g, "n1", 1);
  CHECK(v.state == visit_state::read);
  REQUIRE(v.processes.failure.has_value());
  CHECK(v.processes.failure->code == error_code::bad_format);
  REQUIRE(v.directories.failure.has_value());
  CHECK(v.directories.failure->code == error_code::unreadable_memory);
  CHECK(v.metadirectories.shortfall.has_value());
  CHECK(g.find("n1", process_id{106}).has_value());
}

TEST_CASE("entries without a readable host or a possible pid are kept, and never opened") {
  fake_job job;
  fake_mpi_process& m = job.add("n1", 1);
  m.info.mpi_flags = 0x03;
  m.put_directories(
      {{target_address{0x10}, {}, 2}, {m.string("n1"), {}, 0}, {m.string("n1"), {}, -5}, {m.string("n1"), {}, 6}});
  m.put_processes(
      {{target_address{0x10}, {}, {}, m.string("w"), 100, 0}, {target_address{0x10}, {}, {}, m.string("w"), 100, 0}});
  one_rank(job.add("n1", 6), 106, 6);
  job.publish();
  const graph g = walked(job, "n1", 1);
  const mpi2dd::visit& v = visit_of(g, "n1", 1);
  REQUIRE(v.directories.entries.size() == 4);
  CHECK_FALSE(g.is_identified(v.directories.entries[0]));
  CHECK_FALSE(g.host(v.directories.entries[0]).has_value());
  CHECK(g.pid(v.directories.entries[2]) == process_id{-5});
  CHECK(g.is_identified(v.directories.entries[3]));
  CHECK(v.processes.entries[0] != v.processes.entries[1]);  // nothing says that they are one
  CHECK(g.worlds()[0].processes == 3);
  CHECK(v.directories.problem_count == 3);
  CHECK(job.opens() == 2);
}

TEST_CASE("a process in several tables is one, and contradictions of the tables are recorded") {
  fake_job job;
  fake_mpi_process& m = job.add("n1", 1);
  m.info.mpi_flags = 0x01;
  m.put_directories({{m.string("n1"), m.string("/dird"), 2},
                     {m.string("n1"), m.string("/dird"), 3},
                     {m.string("n1"), m.string("/dird"), 4}});
  one_rank(job.add("n1", 2), 100, 0);
  one_rank(job.add("n1", 3), 100, 0);
  fake_mpi_process& d = job.add("n1", 4);
  d.info.mpi_flags = 0x02;
  d.put_processes({{d.string("n1"), d.string("/other"), d.spawn(d.string("w"), 5, 1), d.string("v"), 100, 9},
                   {d.string("n1"), d.string("/dirx"), {}, d.string("v"), 4, 3}});
  job.publish();
  const graph g = walked(job, "n1", 1);
  CHECK(g.process_count() == 5);
  const auto p = g.find("n1", process_id{100});
  REQUIRE(p.has_value());
  CHECK(g.mentions(*p) == 3);
  CHECK(g.rank(*p) == 0);
  CHECK(g.executable(*p) == "/app");
  REQUIRE(g.disagreements().size() == 5);
  std::vector<std::string> said;
  for (const mpi2dd::disagreement& one : g.disagreements()) {
    CHECK(one.table_of == *g.find("n1", process_id{4}));
    said.push_back(std::string{name(one.field)} + " " + one.stands + " " + one.said);
  }
  CHECK(said == std::vector<std::string>{"comm_world_id w v", "spawn_desc  w:5:1", "rank 0 9",
                                         "executable_name /app /other", "executable_name /dird /dirx"});
  CHECK(g.rank(*g.find("n1", process_id{4})) == 3);
}

TEST_CASE("flags that contradict the tables are warnings") {
  fake_job job;
  fake_mpi_process& m = job.add("n1", 1);
  m.put_directories({{m.string("n1"), m.string("/dird"), 2}});
  one_rank(job.add("n1", 2), 100, 0);
  job.at("n1", 2).info.mpi_flags = 0;
  fake_mpi_process& lone = job.add("n1", 100);
  lone.info.meta_pid = 1;  // without a host there is no way
  job.publish();
  const graph g = walked(job, "n1", 1);
  CHECK_THAT(visit_of(g, "n1", 1).warnings.at(0).message, ContainsSubstring("I_AM_METADIR"));
  CHECK_THAT(visit_of(g, "n1", 2).warnings.at(0).message, ContainsSubstring("I_AM_DIR"));
  CHECK(visit_of(g, "n1", 2).is_directory());
  const graph lost = walked(job, "n1", 100);
  CHECK(lost.process_count() == 1);
  CHECK_THAT(lost.visits()[0].warnings.at(0).message, ContainsSubstring("no way"));
}

TEST_CASE("the walk along an endless chain of metadirectories ends") {
  fake_job job;
  // Each names the next, which is made when it is opened.
  const auto open = [&](std::string_view host, process_id pid, std::string_view executable) {
    fake_mpi_process& m = job.add(std::string{host}, static_cast<std::int32_t>(pid.value()));
    m.info.mpi_flags = 0x01;
    m.put_metadirectories({{m.string("n1"), {}, pid.value() + 1}});
    m.publish();
    return job.opener()(host, pid, executable);
  };
  mpi2dd::walk_options options;
  options.limits.max_depth = 40;
  auto g = mpi2dd::walk({"n1", process_id{1}, ""}, open, options);
  REQUIRE(g.has_value());
  CHECK(job.opens() == 41);
  REQUIRE(g->visits().size() == 42);
  CHECK(g->visits().back().state == visit_state::beyond_limit);
  CHECK(g->visits().back().failure->code == error_code::limit);
}

TEST_CASE("no more processes are opened or kept than the limits allow") {
  fake_job job;
  five_directories(job);
  for (int i = 2; i <= 5; ++i) job.add(i == 3 ? "far" : "n1", i);
  job.publish();
  mpi2dd::walk_options options;
  options.limits.max_opened = 3;
  const graph few = walked(job, "n1", 1, options);
  CHECK(job.opens() == 3);
  CHECK(few.process_count() == 6);
  CHECK(few.left_unopened() == 3);
  options.limits.max_opened = 100;
  options.limits.max_processes = 4;
  const graph small = walked(job, "n1", 1, options);
  CHECK(small.process_count() == 4);
  REQUIRE(small.visits()[0].directories.shortfall.has_value());
  CHECK(small.visits()[0].directories.shortfall->code == error_code::limit);
}

TEST_CASE("an opener that throws or returns nothing makes only that process fail") {
  fake_job job;
  five_directories(job);
  job.publish();
  const auto open = [&](std::string_view host, process_id pid,
                        std::string_view executable) -> result<std::unique_ptr<mpi2dd::opened_process>> {
    if (pid.value() == 2) throw std::runtime_error("no more of this");
    if (pid.value() == 4) return std::unique_ptr<mpi2dd::opened_process>{};
    return job.opener()(host, pid, executable);
  };
  const auto g = mpi2dd::walk({"n1", process_id{1}, ""}, open);
  REQUIRE(g.has_value());
  CHECK_THAT(visit_of(*g, "n1", 2).failure->message, ContainsSubstring("no more of this"));
  CHECK(visit_of(*g, "n1", 4).failure->code == error_code::invalid_argument);
  CHECK(g->find("n1", process_id{106}).has_value());
}
