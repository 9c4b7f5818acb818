// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A walk of a running job finds the whole job from any of its processes.
#include <mutex>
#include <sstream>

#include "local_targets.hpp"
#include "told_graph.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

TEST_CASE("starter, metadirectory, directories and each rank lead to the same graph") {
  reference_job job{{"mpi2dd_starter", "--ranks", "5", "--world", "w0", "--metadirectory", "--directories", "2",
                     "--hold", "1/spawn_apart=2{1/spawn=1}", "4/spawn=2"}};
  job.ready();
  const words ranks = told_ranks(job);
  const words spawns = told_spawns(job);
  REQUIRE(ranks.size() == 10);
  REQUIRE(spawns.size() == 3);
  const pid_t meta = job.said_pid("metadirectory.0.pid");
  std::set<pid_t> begins = {job.pid(), meta};
  // Line by line: two processes may both have launched their directory 0.
  std::istringstream lines(job.oracle());
  for (std::string key, value; lines >> key && std::getline(lines, value);) {
    if (key.ends_with(".pid")) begins.insert(std::atoi(value.c_str()));
  }
  REQUIRE(begins.size() == 15);  // ten ranks, three directories, starter and metadirectory
  for (const pid_t begin : begins) {
    INFO("from " << begin);
    const job_graph seen = graph_from(begin);
    CHECK(ranks_of(seen.graph) == ranks);
    CHECK(spawns_of(seen.graph) == spawns);
    CHECK(metadirectories_of(seen.graph) == std::set<pid_t>{meta});
    CHECK(directories_of(seen.graph).size() == 4);  // the starter's table is empty
    CHECK(seen.graph.process_count() == 15);
    for (std::uint32_t i = 0; i < seen.graph.process_count(); ++i) {
      CHECK(seen.graph.host(mpi2dd::process_number{i}) == seen.host);
    }
    check_clean(seen.graph);
  }
  CHECK(job.end() == 0);
}

TEST_CASE("a starter that is metadirectory and directory as well, and a rank that is a directory") {
  reference_job alone{{"mpi2dd_starter", "--ranks", "3", "--hold"}};
  alone.ready();
  const job_graph seen = graph_from(alone.pid());
  CHECK(ranks_of(seen.graph) == told_ranks(alone));
  CHECK(seen.graph.visits().size() == 1);
  CHECK(seen.graph.visits()[0].is_starter());
  CHECK(seen.graph.visits()[0].is_metadirectory());

  reference_job by_rank{{"mpi2dd_starter", "--ranks", "3", "--rank-directory", "--world", "w0", "--hold"}};
  by_rank.ready();
  const job_graph other = graph_from(by_rank.rank("w0", 2));
  CHECK(ranks_of(other.graph) == told_ranks(by_rank));
  const mpi2dd::visit& first = visit_at(other, by_rank.rank("w0", 0));
  CHECK(first.is_directory());
  CHECK(other.graph.rank(first.process) == 0);
  check_clean(other.graph);
}

TEST_CASE("a walk finds metadirectories above each other, with references in one direction or in both") {
  const bool one_way = GENERATE(false, true);
  reference_job job{{"mpi2dd_starter", "--ranks", "2", one_way ? "--above-one-way" : "--above", "--directories", "2",
                     "--world", "w0", "--hold"}};
  job.ready();
  const std::set<pid_t> both = {job.said_pid("metadirectory.0.pid"), job.said_pid("metadirectory.1.pid")};
  for (const pid_t begin : {job.pid(), job.rank("w0", 1), *both.begin(), *both.rbegin()}) {
    const job_graph seen = graph_from(begin);
    CHECK(metadirectories_of(seen.graph) == both);
    CHECK(ranks_of(seen.graph) == told_ranks(job));
    check_clean(seen.graph);
  }
}

TEST_CASE("jobs that connect or join are one graph from both sides, and two after they disconnect") {
  const bool joins = GENERATE(false, true);
  const std::string port = "live." + std::to_string(::getpid());
  const std::string here = (joins ? "join=" : "accept=") + port, there = (joins ? "1/join=" : "1/connect=") + port;
  reference_job one{
      {"mpi2dd_starter", "--ranks", "2", "--world", "A", "--metadirectory", "--hold", here, "step", "disconnect"}};
  reference_job two{{"mpi2dd_starter", "--ranks", "3", "--world", "B", "--directories", "2", "--hold", there}};
  one.ready();
  two.ready();
  words all = told_ranks(one);
  all.merge(told_ranks(two));
  for (const pid_t begin : {one.pid(), two.pid(), one.rank("A", 1), two.rank("B", 2)}) {
    const job_graph seen = graph_from(begin);
    CHECK(ranks_of(seen.graph) == all);
    CHECK(metadirectories_of(seen.graph) == std::set<pid_t>{one.said_pid("metadirectory.0.pid"), two.pid()});
    CHECK(seen.graph.spawns().empty());
    check_clean(seen.graph);
  }
  one.go_on();
  one.ready();
  CHECK(ranks_of(graph_from(one.rank("A", 0)).graph) == told_ranks(one));
}

TEST_CASE("many directories are opened in parallel, each once") {
  reference_job job{{"mpi2dd_starter", "--ranks", "24", "--directories", "12", "--world", "w0", "--hold"}};
  job.ready();
  const local_targets targets = local_targets::around(process_id{job.pid()});
  std::mutex mutex;
  std::multiset<std::int64_t> opened;
  const auto open = [&](std::string_view host, process_id pid, std::string_view executable) {
    const std::lock_guard lock(mutex);
    opened.insert(pid.value());
    return targets.open(host, pid, executable);
  };
  const auto g = mpi2dd::walk(targets.start(process_id{job.rank("w0", 7)}), open, targets.options());
  REQUIRE(g.has_value());
  CHECK(ranks_of(*g) == told_ranks(job));
  CHECK(opened.size() == 14);  // the rank, the starter, and the directories
  CHECK(std::set<std::int64_t>(opened.begin(), opened.end()).size() == opened.size());
}
