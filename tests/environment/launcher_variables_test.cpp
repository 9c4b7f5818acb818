// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "launcher_variables.hpp"

#include "catch.hpp"

using namespace mpiacq;
using namespace std::string_view_literals;

TEST_CASE("each launcher states rank, size and local rank in its own variables") {
  const auto one = [](std::string_view environment) {
    const auto all = decode_launcher_variables(environment).ranks;
    REQUIRE(all.size() == 1);
    return all.front();
  };
  CHECK(one("OMPI_COMM_WORLD_RANK=3\0OMPI_COMM_WORLD_SIZE=8\0OMPI_COMM_WORLD_LOCAL_RANK=1\0"sv) ==
        rank_variable{"OMPI_COMM_WORLD_RANK", "3", 3, 8, 1});
  CHECK(one("PMI_RANK=3\0PMI_SIZE=8\0MPI_LOCALRANKID=1\0"sv) == rank_variable{"PMI_RANK", "3", 3, 8, 1});
  CHECK(one("SLURM_PROCID=3\0SLURM_STEP_NUM_TASKS=8\0SLURM_LOCALID=1\0"sv) ==
        rank_variable{"SLURM_PROCID", "3", 3, 8, 1});
  CHECK(one("PMIX_RANK=0\0PMI_SIZE=8\0"sv) == rank_variable{"PMIX_RANK", "0", 0, {}, {}});
  CHECK(decode_launcher_variables("PATH=/bin\0XPMI_RANK=3\0PMI_RANKS=3\0PMI_SIZE=2\0"sv).ranks.empty());
}

TEST_CASE("the statements of several launchers are in a fixed order") {
  const auto known = decode_launcher_variables("SLURM_PROCID=0\0PMIX_RANK=2\0OMPI_COMM_WORLD_RANK=2\0PMI_RANK=7\0"sv);
  std::string names;
  for (const rank_variable& one : known.ranks) names += one.name + " ";
  CHECK(names == "OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK SLURM_PROCID ");
}

TEST_CASE("a rank that is no number is kept only as text, and the first of equal variables counts") {
  for (const auto value : {""sv, "x"sv, "-1"sv, "3x"sv, " 3"sv, "99999999999999999999"sv}) {
    INFO(value);
    const auto known = decode_launcher_variables("PMI_RANK=" + std::string(value)).ranks;
    REQUIRE(known.size() == 1);
    CHECK(known.front().value == value);
    CHECK_FALSE(known.front().rank);
  }
  CHECK(decode_launcher_variables("PMI_RANK=1\0PMI_RANK=2\0"sv).ranks.front().rank == 1);
}

TEST_CASE("variables that the starter inherited are not about its ranks") {
  constexpr auto rank = "SLURM_PROCID=0\0SLURM_STEP_NUM_TASKS=1\0PMI_RANK=3\0PMI_SIZE=4\0SLURM_JOB_ID=12\0"sv;
  const auto known = decode_launcher_variables(rank, "SLURM_PROCID=0\0PMI_SIZE=2\0HOME=/\0"sv);
  REQUIRE(known.ranks.size() == 1);
  CHECK(known.ranks.front() == rank_variable{"PMI_RANK", "3", 3, {}, {}});
  CHECK(known.slurm_job == "12");
}

TEST_CASE("Slurm's job and step numbers are dropped unless they are decimal") {
  const auto known = decode_launcher_variables("SLURM_JOB_ID=4294967295\0SLURM_STEP_ID=0\0SLURMD_NODENAME=n1\0"sv);
  CHECK(known.slurm_job == "4294967295");
  CHECK(known.slurm_step == "0");
  CHECK(known.slurm_node == "n1");
  const auto hostile = decode_launcher_variables("SLURM_JOB_ID=1;reboot\0SLURM_STEP_ID=12345678901\0"sv);
  CHECK(hostile.slurm_job.empty());
  CHECK(hostile.slurm_step.empty());
}

TEST_CASE("a process that MPI_Comm_spawn made is recognised") {
  CHECK(decode_launcher_variables("OMPI_PARENT_PORT=3948.0:12\0"sv).is_spawned);
  CHECK(decode_launcher_variables("PMI_SPAWNED=1\0"sv).is_spawned);
  CHECK_FALSE(decode_launcher_variables("PMI_SPAWNED=0\0"sv).is_spawned);
  CHECK_FALSE(decode_launcher_variables("PMI_RANK=0\0"sv).is_spawned);
}

TEST_CASE("the addresses of the starter and the namespace of PMIx are kept as they are") {
  const auto known = decode_launcher_variables("PMIX_NAMESPACE=prterun-a-1@1\0PMIX_SERVER_URI2=a;tcp\0"sv);
  CHECK(known.pmix_namespace == "prterun-a-1@1");
  CHECK(known.starter_addresses == std::vector<std::string>{"PMIX_SERVER_URI2=a;tcp"});
}
