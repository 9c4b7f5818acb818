// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Jobs on made-up nodes: which processes are ranks, which ranks are one job, which process started them.
#include "environment_jobs.hpp"

#include <map>

#include "made_up_node.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// Pids by rank, of the first world.
std::map<int, std::int64_t> pids_of(const environment_job& job, std::size_t world = 0) {
  std::map<int, std::int64_t> pids;
  for (const environment_rank& one : job.worlds.at(world).ranks) pids[one.rank] = one.pid.value();
  return pids;
}

using pids = std::map<int, std::int64_t>;

std::int64_t starter_of(const environment_job& job) {
  return job.starter ? job.starter->pid().value() : -1;
}

/// mpiexec.hydra with one proxy; the proxy's pid is the next one.
void put_hydra(const made_up_node& node, int pid, int parent, const std::string& port, const std::string& group = "0") {
  node.put({.pid = pid, .parent = parent, .executable = "/usr/bin/mpiexec.hydra"});
  node.put({.pid = pid + 1,
            .parent = pid,
            .executable = "/usr/bin/hydra_pmi_proxy",
            .arguments = {"hydra_pmi_proxy", "--control-port", port, "--pgid", group, "--proxy-id", "0"}});
}

}  // namespace

TEST_CASE("the ranks of each launcher are one job, with the launcher's program as its starter") {
  struct sample {
    launcher_kind kind;
    std::string starter;
    std::vector<std::string> rank_0, rank_1;
    std::optional<std::uint64_t> size;
  };
  const auto one =
      GENERATE(sample{launcher_kind::hydra, "/usr/bin/mpiexec.hydra", hydra(0, 2), hydra(1, 2), 2},
               sample{launcher_kind::open_mpi, "/usr/bin/orterun", open_mpi(0, 2, "77"), open_mpi(1, 2, "77"), 2},
               sample{launcher_kind::open_mpi, "/usr/bin/prte", open_mpi(0, 2, "prterun-n1-9@1"),
                      open_mpi(1, 2, "prterun-n1-9@1"), 2},
               sample{launcher_kind::prrte,
                      "/usr/bin/prterun",
                      {"PMIX_RANK=0", "PMIX_NAMESPACE=a@1"},
                      {"PMIX_RANK=1", "PMIX_NAMESPACE=a@1"},
                      {}},
               sample{launcher_kind::slurm, "/usr/sbin/slurmstepd", slurm(0, 2), slurm(1, 2), 2},
               sample{launcher_kind::flux,
                      "/usr/libexec/flux/flux-shell",
                      {"FLUX_JOB_ID=f1", "FLUX_TASK_RANK=0", "FLUX_JOB_SIZE=2"},
                      {"FLUX_JOB_ID=f1", "FLUX_TASK_RANK=1", "FLUX_JOB_SIZE=2"},
                      2},
               // PALS states no size; the variables of the MPI that it serves do.
               sample{launcher_kind::pals, "/opt/cray/pals/palsd",
                      std::vector<std::string>{"PALS_APID=a", "PALS_RANKID=0"} + hydra(0, 2),
                      std::vector<std::string>{"PALS_APID=a", "PALS_RANKID=1"} + hydra(1, 2), 2},
               sample{launcher_kind::torchrun, "/opt/venv/bin/torchrun", torchrun(0, 2), torchrun(1, 2), 2});
  const made_up_node node;
  node.put({.pid = 10, .executable = one.starter});
  node.put({.pid = 11, .parent = 10, .environment = one.rank_0});
  node.put({.pid = 12, .parent = 10, .environment = one.rank_1});
  const environment_jobs jobs(node.root());
  INFO(one.starter);
  REQUIRE(jobs.all().size() == 1);
  const environment_job& job = jobs.all().front();
  CHECK(job.launcher->kind == one.kind);
  CHECK(pids_of(job) == pids{{0, 11}, {1, 12}});
  CHECK(starter_of(job) == 10);
  CHECK(job.size() == one.size);
  CHECK(job.user == user_id{1000});
  CHECK(job.problems.size() == (one.size ? 0 : 1));
}

TEST_CASE("the proxies of Hydra distinguish two jobs of one user") {
  const made_up_node node;
  put_hydra(node, 10, 5, "n1:1111");
  put_hydra(node, 20, 5, "n1:2222");
  for (const int rank : {0, 1}) {
    node.put({.pid = 12 + rank, .parent = 11, .environment = hydra(rank, 2)});
    node.put({.pid = 22 + rank, .parent = 21, .environment = hydra(rank, 2)});
  }
  const environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == 2);
  CHECK(pids_of(jobs.all()[0]) == pids{{0, 12}, {1, 13}});
  CHECK(pids_of(jobs.all()[1]) == pids{{0, 22}, {1, 23}});
  CHECK(starter_of(jobs.all()[0]) == 10);
  CHECK(starter_of(jobs.all()[1]) == 20);
}

TEST_CASE("two proxies of one job on one node make one job") {
  const made_up_node node;
  put_hydra(node, 10, 5, "n1:1111");
  // Started by ssh: no descendant of mpiexec.
  put_hydra(node, 20, 5, "n1:1111");
  std::filesystem::remove_all(node.root() + "/20");
  node.put({.pid = 12, .parent = 11, .environment = hydra(0, 2)});
  node.put({.pid = 22, .parent = 21, .environment = hydra(1, 2)});
  const environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == 1);
  CHECK(pids_of(jobs.all()[0]) == pids{{0, 12}, {1, 22}});
  CHECK(starter_of(jobs.all()[0]) == 10);
}

TEST_CASE("a world that MPI_Comm_spawn made belongs to the job of its starter") {
  const made_up_node node;
  put_hydra(node, 10, 5, "n1:1111", "0");
  node.put({.pid = 12, .parent = 11, .environment = hydra(0, 1)});
  node.put({.pid = 14,
            .parent = 10,
            .executable = "/usr/bin/hydra_pmi_proxy",
            .arguments = {"hydra_pmi_proxy", "--control-port", "n1:1111", "--pgid", "1"}});
  for (const int rank : {0, 1}) {
    node.put(
        {.pid = 15 + rank, .parent = 14, .environment = hydra(rank, 2) + std::vector<std::string>{"PMI_SPAWNED=1"}});
  }
  const environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == 1);
  REQUIRE(jobs.all()[0].worlds.size() == 2);
  CHECK(pids_of(jobs.all()[0], 0) == pids{{0, 12}});
  CHECK(pids_of(jobs.all()[0], 1) == pids{{0, 15}, {1, 16}});
  CHECK(jobs.all()[0].ranks_here() == 3);
  CHECK(jobs.all()[0].size() == 3);
}

TEST_CASE("what a rank has forked is no rank, also where the environment between them cannot be read") {
  const made_up_node node;
  put_hydra(node, 10, 5, "n1:1111");
  node.put({.pid = 12, .parent = 11, .environment = hydra(0, 1)});
  node.put({.pid = 13, .parent = 12, .executable = "/bin/sh", .environment = hydra(0, 1)});
  node.put({.pid = 14, .parent = 12, .executable = "/bin/su"});
  node.put({.pid = 15, .parent = 14, .environment = hydra(0, 1)});
  const environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == 1);
  CHECK(pids_of(jobs.all()[0]) == pids{{0, 12}});
  CHECK(jobs.all()[0].problems.empty());
}

TEST_CASE("a job that a rank of another job has started is a job of its own") {
  const made_up_node node;
  put_hydra(node, 10, 5, "n1:1111");
  node.put({.pid = 12, .parent = 11, .executable = "/bin/sh", .environment = hydra(0, 1)});
  // The inner mpiexec, its proxy and its rank 0 inherit PMI_RANK=0.
  node.put({.pid = 20, .parent = 12, .executable = "/usr/bin/mpiexec.hydra", .environment = hydra(0, 1)});
  node.put({.pid = 21,
            .parent = 20,
            .executable = "/usr/bin/hydra_pmi_proxy",
            .environment = hydra(0, 1),
            .arguments = {"hydra_pmi_proxy", "--control-port", "n1:2222", "--pgid", "0"}});
  node.put({.pid = 22, .parent = 21, .environment = hydra(0, 2)});
  node.put({.pid = 23, .parent = 21, .environment = hydra(1, 2)});
  const environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == 2);
  CHECK(pids_of(jobs.all()[0]) == pids{{0, 12}});
  CHECK(starter_of(jobs.all()[0]) == 10);
  CHECK(pids_of(jobs.all()[1]) == pids{{0, 22}, {1, 23}});
  CHECK(starter_of(jobs.all()[1]) == 20);
}

TEST_CASE("a rank with the variables of two launchers belongs to the inner one") {
  const made_up_node node;
  // mpirun in a batch script of Slurm: all inherit the script's variables.
  const std::vector<std::string> batch = {"SLURM_JOB_ID=42", "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=1"};
  node.put({.pid = 10, .executable = "/bin/bash", .environment = batch});
  node.put({.pid = 11, .parent = 10, .executable = "/usr/bin/orterun", .environment = batch});
  for (const int rank : {0, 1})
    node.put({.pid = 12 + rank, .parent = 11, .environment = batch + open_mpi(rank, 2, "77")});
  // torchrun as the task of a step of Slurm.
  node.put({.pid = 30, .executable = "/usr/sbin/slurmstepd", .user = 0});
  node.put({.pid = 31,
            .parent = 30,
            .executable = "/usr/bin/python3.11",
            .environment = slurm(0, 1, "43"),
            .arguments = {"python3", "-u", "/opt/venv/bin/torchrun", "--nproc-per-node=2", "train.py"}});
  for (const int rank : {0, 1}) {
    node.put({.pid = 32 + rank, .parent = 31, .environment = slurm(0, 1, "43") + torchrun(rank, 2)});
  }
  const environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == 2);
  CHECK(jobs.all()[0].launcher->kind == launcher_kind::open_mpi);
  CHECK(pids_of(jobs.all()[0]) == pids{{0, 12}, {1, 13}});
  CHECK(jobs.all()[1].launcher->kind == launcher_kind::torchrun);
  CHECK(pids_of(jobs.all()[1]) == pids{{0, 32}, {1, 33}});
  CHECK(starter_of(jobs.all()[1]) == 31);
}

TEST_CASE("a task of Slurm with the variables of its MPI belongs to the step, and a batch script to none") {
  const made_up_node node;
  node.put({.pid = 10, .executable = "/usr/sbin/slurmstepd", .user = 0});
  for (const int rank : {0, 1})
    node.put({.pid = 11 + rank, .parent = 10, .environment = slurm(rank, 2) + hydra(rank, 2)});
  node.put({.pid = 20, .executable = "/bin/bash", .environment = {"SLURM_JOB_ID=42", "SLURM_PROCID=0"}});
  node.put({.pid = 21, .executable = "/bin/bash", .environment = slurm(0, 1, "42", "4294967291")});
  const environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == 1);
  CHECK(jobs.all()[0].launcher->kind == launcher_kind::slurm);
  CHECK(jobs.all()[0].id == std::vector<std::string>{"42", "0"});
  // The daemon is root's, the job is its user's.
  CHECK(starter_of(jobs.all()[0]) == 10);
  CHECK(jobs.all()[0].user == user_id{1000});
}

TEST_CASE("starters distinguish jobs of torchrun with the same address, and one job may have two starters") {
  const auto launcher = [](int pid) {
    return made_up_process{.pid = pid,
                           .executable = "/usr/bin/python3",
                           .arguments = {"python3", "-m", "torch.distributed.run", "train.py"}};
  };
  const made_up_node node;
  node.put(launcher(10));
  node.put(launcher(20));
  const bool is_one_job = GENERATE(true, false);
  for (const int rank : {0, 1}) {
    node.put({.pid = 11 + rank, .parent = 10, .environment = torchrun(rank, 4)});
    node.put({.pid = 21 + rank, .parent = 20, .environment = torchrun(is_one_job ? rank + 2 : rank, 4)});
  }
  const environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == (is_one_job ? 1 : 2));
  CHECK(starter_of(jobs.all()[0]) == 10);
  if (is_one_job) {
    CHECK(pids_of(jobs.all()[0]) == pids{{0, 11}, {1, 12}, {2, 21}, {3, 22}});
    CHECK(jobs.all()[0].problems.empty());
  } else {
    CHECK(pids_of(jobs.all()[1]) == pids{{0, 21}, {1, 22}});
    CHECK(starter_of(jobs.all()[1]) == 20);
  }
}

TEST_CASE("jobs of two starters are two, also while their ranks have no number in common") {
  const made_up_node node;
  for (const int starter : {10, 20}) {
    node.put({.pid = starter, .executable = "/usr/bin/prterun"});
    const bool is_first = starter == 10;
    node.put({.pid = starter + 1,
              .parent = starter,
              .environment = {"PMIX_NAMESPACE=job@1", is_first ? "PMIX_RANK=0" : "PMIX_RANK=1"}});
  }
  const environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == 2);
  CHECK(pids_of(jobs.all()[0]) == pids{{0, 11}});
  CHECK(starter_of(jobs.all()[0]) == 10);
  CHECK(pids_of(jobs.all()[1]) == pids{{1, 21}});
  CHECK(starter_of(jobs.all()[1]) == 20);
}

TEST_CASE("an unknown launcher is the common parent of its ranks, and one rank alone has none") {
  const made_up_node node;
  node.put({.pid = 10, .executable = "/opt/launch"});
  for (const int rank : {0, 1}) node.put({.pid = 11 + rank, .parent = 10, .environment = torchrun(rank, 2, "a")});
  node.put({.pid = 20, .executable = "/bin/bash"});
  node.put({.pid = 21, .parent = 20, .environment = torchrun(0, 1, "b")});
  const environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == 2);
  CHECK(starter_of(jobs.all()[0]) == 10);
  CHECK(starter_of(jobs.all()[1]) == -1);
}

TEST_CASE("RANK and WORLD_SIZE alone are no variables of a launcher") {
  const made_up_node node;
  node.put({.pid = 10, .environment = {"RANK=0", "WORLD_SIZE=2"}});
  node.put({.pid = 11, .environment = {"RANK=1", "MASTER_ADDR=n1"}});
  CHECK(environment_jobs(node.root()).all().empty());
}

TEST_CASE("the daemon of a launcher is the starter where its program runs on another node") {
  const made_up_node node;
  node.put({.pid = 10, .executable = "/usr/bin/orted"});
  node.put({.pid = 11, .parent = 10, .environment = open_mpi(2, 4, "77")});
  const environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == 1);
  CHECK(starter_of(jobs.all()[0]) == 10);
  REQUIRE(jobs.all()[0].problems.size() == 1);
  CHECK_THAT(jobs.all()[0].problems[0].message,
             ContainsSubstring("ranks 0-1,3 are not among the processes of this node"));
}

TEST_CASE("processes of two users are two jobs, and a starter of a third user is none") {
  const made_up_node node;
  node.put({.pid = 10, .executable = "/usr/bin/orterun", .user = 1002});
  node.put({.pid = 11, .parent = 10, .environment = open_mpi(0, 2, "77"), .user = 1000});
  node.put({.pid = 12, .parent = 10, .environment = open_mpi(1, 2, "77"), .user = 1001});
  const environment_jobs jobs(node.root());
  REQUIRE(jobs.all().size() == 2);
  for (const environment_job& job : jobs.all()) {
    CHECK(job.worlds[0].ranks.size() == 1);
    CHECK(starter_of(job) == -1);
  }
  CHECK(jobs.all()[0].user == user_id{1000});
  CHECK(jobs.all()[1].user == user_id{1001});
}

TEST_CASE("a process leads to its job: a rank, the starter, what is above the ranks, and what a rank has forked") {
  const made_up_node node;
  node.put({.pid = 5, .executable = "/bin/bash"});
  node.put({.pid = 6, .parent = 5, .executable = "/bin/bash"});
  put_hydra(node, 10, 6, "n1:1111");
  put_hydra(node, 20, 5, "n1:2222");
  for (const int rank : {0, 1}) {
    node.put({.pid = 12 + rank, .parent = 11, .environment = hydra(rank, 2)});
    node.put({.pid = 22 + rank, .parent = 21, .environment = hydra(rank, 2)});
  }
  node.put({.pid = 30, .parent = 13, .executable = "/bin/sh", .environment = hydra(1, 2)});
  environment_jobs jobs(node.root());
  const auto how = [&](int pid) {
    const auto match = jobs.job_of(process_id{pid});
    REQUIRE(match);
    REQUIRE(*match);
    return std::to_string(starter_of(*(*match)->job)) + " " + (*match)->how;
  };
  CHECK(how(13) == "10 is rank 1 of");
  CHECK(how(10) == "10 ");
  CHECK(how(11) == "10 is an ancestor of the ranks of");
  CHECK(how(6) == "10 is an ancestor of the ranks of");
  CHECK(how(30) == "10 is a descendant of rank 1 of");
  CHECK(how(22) == "20 is rank 0 of");
  const auto several = jobs.job_of(process_id{5});
  REQUIRE_FALSE(several);
  CHECK(several.error().code == error_code::invalid_argument);
  CHECK_THAT(several.error().message, ContainsSubstring("2 jobs descend from process 5"));
  CHECK_THAT(several.error().message, ContainsSubstring("10 (Hydra), 20 (Hydra)"));
  const auto none = jobs.job_of(process_id{99});
  REQUIRE(none);
  CHECK_FALSE(*none);
}

TEST_CASE("parents: each process with children is listed once, also if its children state nothing or cannot be read") {
  const made_up_node node;
  node.put({.pid = 9});
  node.put({.pid = 10});
  node.put({.pid = 11, .parent = 10, .environment = hydra(0, 2)});
  node.put({.pid = 12, .parent = 10, .environment = hydra(1, 2)});
  node.put({.pid = 13, .parent = 12});
  node.put({.pid = 14, .parent = 9});
  node.put({.pid = 15, .parent = 14});
  std::filesystem::remove(node.root() + "/15/environ");
  std::filesystem::remove(node.root() + "/13/stat");
  const node_processes all(node.root(), node_pass::environments_and_parents);
  CHECK(all.parents() == std::vector{process_id{9}, process_id{10}, process_id{14}});
  CHECK(all.stating().size() == 2);
  CHECK(node_processes(node.root()).parents().empty());
}
