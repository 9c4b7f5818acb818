// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The references between the processes of a reference job.
#include "catch.hpp"
#include "reference_job.hpp"

using namespace mpiacq::test;

namespace {
std::vector<int> pids(const std::vector<listed_place>& places) {
  std::vector<int> all;
  for (const listed_place& p : places) all.push_back(p.pid);
  return all;
}
std::vector<std::string> ranks(const std::vector<listed_process>& processes) {
  std::vector<std::string> all;
  for (const listed_process& p : processes) all.push_back(p.world + ":" + std::to_string(p.rank));
  return all;
}
using list = std::vector<int>;
using names = std::vector<std::string>;
}  // namespace

TEST_CASE("two directories under a starter that is the metadirectory share the ranks") {
  reference_job job{{"mpi2dd_starter", "--ranks", "4", "--directories", "2", "--world", "w0", "--hold"}};
  const seen_process s = job.ready().look(job.pid());
  CHECK(s.mpi_flags == (is_starter | is_metadir));
  CHECK_FALSE(s.has_proctable);
  const list directories = {job.said_pid("directory.0.pid"), job.said_pid("directory.1.pid")};
  CHECK(pids(s.directories) == directories);
  CHECK(s.directories[1].executable == MPIACQ_MPI2DD "/mpi2dd_directory");
  const seen_process first = job.look(directories[0]);
  CHECK(first.mpi_flags == is_dir);
  CHECK(first.meta_pid == job.pid());
  CHECK(ranks(first.processes) == names{"w0:0", "w0:2"});
  CHECK(ranks(job.look(directories[1]).processes) == names{"w0:1", "w0:3"});
}

TEST_CASE("a metadirectory that is the only directory, and leads to the starter") {
  const bool unlisted = GENERATE(false, true);
  std::vector<std::string> words = {"mpi2dd_starter", "--ranks", "2", "--metadirectory", "--world", "w0", "--hold"};
  if (unlisted) words.push_back("--unlisted");
  reference_job job{words};
  job.ready();
  const pid_t meta = job.said_pid("metadirectory.0.pid");
  const seen_process m = job.look(meta);
  CHECK(m.mpi_flags == (is_metadir | is_dir));
  CHECK(m.meta_pid == 0);
  CHECK(ranks(m.processes) == names{"w0:0", "w0:1"});
  CHECK(pids(m.directories) == (unlisted ? list{} : list{job.pid()}));
  CHECK(m.has_directories == !unlisted);
  const seen_process s = job.look(job.pid());
  CHECK(s.mpi_flags == (unlisted ? is_starter : is_starter | is_dir));
  CHECK_FALSE(s.has_proctable);
  CHECK(s.meta_pid == meta);
  CHECK(job.look(job.rank("w0", 0)).meta_pid == meta);
}

TEST_CASE("a metadirectory above another: a circle, or one way") {
  const bool one_way = GENERATE(false, true);
  reference_job job{{"mpi2dd_starter", "--ranks", "1", one_way ? "--above-one-way" : "--above", "--directories", "2",
                     "--world", "w0", "--hold"}};
  job.ready();
  const pid_t above = job.said_pid("metadirectory.0.pid");
  const pid_t below = job.said_pid("metadirectory.1.pid");
  const seen_process a = job.look(above);
  CHECK(a.mpi_flags == is_metadir);
  CHECK(pids(a.metadirectories) == list{below});
  CHECK(a.meta_pid == 0);
  CHECK_FALSE(a.has_directories);
  const seen_process b = job.look(below);
  CHECK(pids(b.metadirectories) == (one_way ? list{} : list{above}));
  CHECK(b.meta_pid == above);
  CHECK(pids(b.directories) == list{job.said_pid("directory.0.pid"), job.said_pid("directory.1.pid"), job.pid()});
  // One of the directories has nothing to list: it has the bit and no table.
  const seen_process empty = job.look(job.said_pid("directory.1.pid"));
  CHECK(empty.mpi_flags == is_dir);
  CHECK_FALSE(empty.has_proctable);
}

TEST_CASE("a rank that is the directory lists itself") {
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--rank-directory", "--world", "w0", "--hold"}};
  job.ready();
  const pid_t first = job.rank("w0", 0);
  const seen_process r = job.look(first);
  CHECK(r.mpi_flags == is_dir);
  CHECK(r.meta_pid == job.pid());
  REQUIRE(ranks(r.processes) == names{"w0:0", "w0:1"});
  CHECK(r.processes[0].pid == first);
  CHECK(pids(job.look(job.pid()).directories) == list{first});
}

TEST_CASE("a spawn makes a second world, listed with its parent or by a directory of its own") {
  const bool apart = GENERATE(false, true);
  reference_job job{{"mpi2dd_starter", "--ranks", "2", "--world", "w0", "--hold",
                     apart ? "1/spawn_apart=2{1/spawn=1}" : "1/spawn=2{1/spawn=1}", "1/spawn=1"}};
  job.ready();
  const pid_t parent = job.rank("w0", 1);
  const std::string w1 = job.spawned_world(parent, 1);
  const std::string w2 = job.spawned_world(parent, 2);
  const pid_t child = job.rank(w1, 1);
  const std::string w3 = job.spawned_world(child, 1);
  std::vector<listed_process> all = job.look(job.pid()).processes;
  if (apart) {
    const pid_t directory = job.said_pid("directory.0.pid");
    CHECK(pids(job.look(job.pid()).directories) == list{directory});
    for (const listed_process& p : job.look(directory).processes) all.push_back(p);
  }
  std::map<std::string, listed_process> by_name;
  for (const listed_process& p : all) by_name[p.world + ":" + std::to_string(p.rank)] = p;
  REQUIRE(by_name.size() == 6);
  CHECK(by_name["w0:1"].spawn.empty());
  CHECK(by_name[w1 + ":0"].spawn == "w0 1 0");
  CHECK(by_name[w1 + ":1"].spawn == "w0 1 0");
  CHECK(by_name[w1 + ":1"].pid == child);
  CHECK(by_name[w2 + ":0"].spawn == "w0 1 1");
  CHECK(by_name[w3 + ":0"].spawn == w1 + " 1 0");
  CHECK(job.look(child).meta_pid == job.pid());
  CHECK(job.end() == 0);
}

TEST_CASE("jobs that connect list each other's metadirectories") {
  const std::string port = "graph." + std::to_string(::getpid());
  reference_job one{{"mpi2dd_starter", "--ranks", "1", "--world", "A", "--metadirectory", "--hold", "accept=" + port}};
  reference_job two{{"mpi2dd_starter", "--ranks", "2", "--world", "B", "--hold", "1/connect=" + port}};
  one.ready();
  two.ready();
  const pid_t meta = one.said_pid("metadirectory.0.pid");
  CHECK(pids(one.look(meta).metadirectories) == list{two.pid()});
  CHECK(pids(two.look(two.pid()).metadirectories) == list{meta});
  CHECK(one.look(one.rank("A", 0)).state == accepted);
  CHECK(two.look(two.rank("B", 1)).state == connected);
  CHECK(two.look(two.rank("B", 0)).state == 0);
}

TEST_CASE("a job under another's metadirectory is listed there, and leaves it") {
  reference_job one{{"mpi2dd_starter", "--ranks", "1", "--world", "A", "--metadirectory", "--hold"}};
  const pid_t meta = one.ready().said_pid("metadirectory.0.pid");
  reference_job two{{"mpi2dd_starter", "--ranks", "1", "--world", "B", "--under", std::to_string(meta), "--hold"}};
  two.ready();
  CHECK(pids(one.look(meta).directories) == list{one.pid(), two.pid()});
  CHECK(two.look(two.pid()).mpi_flags == (is_starter | is_dir));
  CHECK(ranks(two.look(two.pid()).processes) == names{"B:0"});
  CHECK(two.look(two.pid()).meta_executable == MPIACQ_MPI2DD "/mpi2dd_directory");
  CHECK(two.end() == 0);
  CHECK(pids(one.look(meta).directories) == list{one.pid()});
}
