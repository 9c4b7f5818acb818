// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Environments that lie. Each fault is a problem of its job and costs no other rank or job.
#include <algorithm>

#include "environment_jobs.hpp"
#include "made_up_node.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

std::vector<std::int64_t> pids_in_order(const environment_job& job) {
  std::vector<std::int64_t> pids;
  for (const environment_rank& one : job.worlds.front().ranks) pids.push_back(one.pid.value());
  return pids;
}

bool has_problem(const environment_job& job, const std::string& part) {
  return std::any_of(job.problems.begin(), job.problems.end(),
                     [&](const error& one) { return one.message.find(part) != std::string::npos; });
}

/// A job of two sound ranks under one starter, beside what a test adds.
class job_with_faults {
 public:
  job_with_faults() {
    node.put({.pid = 10, .executable = "/usr/bin/orterun"});
    for (const int rank : {0, 1}) node.put({.pid = 11 + rank, .parent = 10, .environment = open_mpi(rank, 2, "77")});
  }
  void put(int pid, const std::vector<std::string>& environment) const {
    node.put({.pid = pid, .parent = 10, .environment = environment});
  }
  made_up_node node;
};

}  // namespace

TEST_CASE("environment: a number that is no rank leaves its process out") {
  const auto text = GENERATE("", "x", "-1", "1x", " 1", "2147483647", "99999999999999999999");
  const job_with_faults job;
  job.put(20,
          {std::string("OMPI_COMM_WORLD_RANK=") + text, "OMPI_COMM_WORLD_SIZE=2", "PMIX_RANK=0", "PMIX_NAMESPACE=77"});
  const environment_jobs jobs(job.node.root());
  REQUIRE(jobs.all().size() == 1);
  CHECK(pids_in_order(jobs.all()[0]) == std::vector<std::int64_t>{11, 12});
  CHECK(has_problem(jobs.all()[0], "process 20 has OMPI_COMM_WORLD_RANK=" + std::string(text)));
}

TEST_CASE("environment: a rank whose number is megabytes long has a short problem") {
  const job_with_faults job;
  job.put(20, {"OMPI_COMM_WORLD_RANK=" + std::string(3 << 20, '1'), "PMIX_NAMESPACE=77"});
  const environment_jobs jobs(job.node.root());
  REQUIRE(jobs.all().size() == 1);
  REQUIRE(jobs.all()[0].problems.size() == 1);
  CHECK(jobs.all()[0].problems[0].message.size() < 300);
}

TEST_CASE("environment: of two processes with one number the older one is the rank") {
  const job_with_faults job;
  job.node.put({.pid = 9, .parent = 10, .environment = open_mpi(0, 2, "77"), .start_time = 500});
  const environment_jobs jobs(job.node.root());
  REQUIRE(jobs.all().size() == 1);
  CHECK(pids_in_order(jobs.all()[0]) == std::vector<std::int64_t>{11, 12});
  CHECK(
      has_problem(jobs.all()[0], "2 processes say that they are rank 0 (pids 11, 9): the oldest, 11, is taken for it"));
}

TEST_CASE("environment: thousands of processes with one number are one problem") {
  const job_with_faults job;
  for (int pid = 1000; pid < 3000; ++pid) job.put(pid, open_mpi(1, 2, "77"));
  const environment_jobs jobs(job.node.root());
  REQUIRE(jobs.all().size() == 1);
  CHECK(pids_in_order(jobs.all()[0]) == std::vector<std::int64_t>{11, 12});
  REQUIRE(jobs.all()[0].problems.size() == 1);
  CHECK(has_problem(jobs.all()[0], "2001 processes say that they are rank 1"));
  CHECK(has_problem(jobs.all()[0], "and 1993 more"));
}

TEST_CASE("environment: ranks that contradict each other on the size are all kept, and the majority counts") {
  const job_with_faults job;
  job.put(13, open_mpi(2, 3, "77"));
  const environment_jobs jobs(job.node.root());
  REQUIRE(jobs.all().size() == 1);
  CHECK(pids_in_order(jobs.all()[0]) == std::vector<std::int64_t>{11, 12, 13});
  CHECK(jobs.all()[0].size() == 2);
  CHECK(has_problem(jobs.all()[0], "contradict each other on their number: 2 of them say 2, others say 3"));
  CHECK(has_problem(jobs.all()[0], "rank 2 is beyond the 2 ranks"));
}

TEST_CASE("environment: an enormous size is refused, and a large one costs nothing") {
  const made_up_node node;
  node.put({.pid = 10, .environment = open_mpi(0, 2000000000, "a")});
  node.put({.pid = 11, .environment = open_mpi(7, 60000000, "b")});
  const environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == 2);
  CHECK_FALSE(jobs.all()[0].size());
  CHECK(has_problem(jobs.all()[0], "states a job of 2000000000 ranks"));
  CHECK(jobs.all()[1].size() == 60000000);
  CHECK(has_problem(jobs.all()[1], "ranks 0-6,8-59999999 are not among the processes of this node"));
}

TEST_CASE("environment: the problems of a job are bounded") {
  const job_with_faults job;
  for (int pid = 1000; pid < 1200; ++pid) job.put(pid, {"OMPI_COMM_WORLD_RANK=x", "PMIX_NAMESPACE=77"});
  const environment_jobs jobs(job.node.root());
  REQUIRE(jobs.all().size() == 1);
  CHECK(jobs.all()[0].problems.size() == most_environment_problems + 1);
  CHECK(pids_in_order(jobs.all()[0]) == std::vector<std::int64_t>{11, 12});
}

TEST_CASE("environment: processes that are each other's parents end no search") {
  const made_up_node node;
  node.put({.pid = 10, .parent = 11, .environment = hydra(0, 2)});
  node.put({.pid = 11, .parent = 10, .environment = hydra(1, 2)});
  environment_jobs jobs(node.root());
  CHECK(jobs.job_of(process_id{10}));
  CHECK(jobs.job_of(process_id{12}));
}

TEST_CASE("environment: a set-user-ID process is no rank") {
  const job_with_faults job;
  job.put(20, open_mpi(2, 3, "77"));
  std::ofstream(job.node.root() + "/20/status") << "Name:\tx\nUid:\t1000\t0\t0\t0\n";
  const environment_jobs jobs(job.node.root());
  REQUIRE(jobs.all().size() == 1);
  CHECK(pids_in_order(jobs.all()[0]) == std::vector<std::int64_t>{11, 12});
}
