// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq queues on Fortran programs, with mpif.h and with the module mpi_f08. The fixture says what each rank passes.
#include <csignal>
#include <filesystem>

#include "found_job.hpp"
#include "openmpi.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

void check_ring(std::vector<std::string> starter, const std::string& program) {
  starter.push_back(rank_program(program));
  running_job job(starter, 3);
  REQUIRE(job.ranks().size() == 3);
  json seen;
  CHECK(comes_true([&] {
    const auto run = run_command({MPIACQ_COMMAND, "queues", "--json", job.pid_text()}, openmpi_options());
    seen = json::parse(run.out);
    return !seen.at("deadlocks").empty();
  }));
  INFO(seen.dump(1));
  CHECK(seen.at("deadlocks").at(0).at("ranks") == json::array({0, 1, 2}));
  for (const auto& [rank, pid] : job.ranks()) ::kill(static_cast<pid_t>(pid), SIGKILL);
  const auto said = places_said(job.wait().out);
  for (const json& row : seen.at("ranks")) {
    const long rank = row.at("rank");
    CHECK(row.at("call") == "MPI_Recv");
    CHECK(row.at("at").at("file").get<std::string>().ends_with("mpi_ring.F90"));
    REQUIRE(said.contains(rank));
    CHECK(row.at("at").at("line") == said.at(rank).at("line"));
    const auto known = arguments_of(row);
    CHECK(known.at("count").at("value") == 8 * (rank + 1));
    CHECK(known.at("source").at("value") == (rank + 1) % 3);
    CHECK(known.at("tag").at("value") == 7 + rank);
    CHECK(known.at("datatype").at("name") == "MPI_INTEGER");
    CHECK(known.at("communicator").at("name") == "MPI_COMM_WORLD");
  }
}

}  // namespace

TEST_CASE("Fortran with Open MPI: ranks that wait for each other are named, with line, source and tag") {
  const std::string interface = GENERATE(as<std::string>{}, "mpif", "f08");
  const std::string program = "mpi_ring_" + interface + "_openmpi";
  if (!have_openmpi() || !std::filesystem::exists(rank_program(program))) {
    MPIACQ_SKIP("Open MPI with its mpifort (openmpi-bin, libopenmpi-dev, gfortran) is not installed");
  }
  check_ring({mpirun, "--oversubscribe", "--mca", "pml", "ob1", "-n", "3"}, program);
}

TEST_CASE("Fortran with stock MPICH: ranks that wait for each other are named, with line, source and tag") {
  const std::string interface = GENERATE(as<std::string>{}, "mpif", "f08");
  const std::string program = "mpi_ring_" + interface + "_mpich";
  if (!is_installed("mpiexec.hydra") || !std::filesystem::exists(rank_program(program))) {
    MPIACQ_SKIP("MPICH with its mpifort (mpich, libmpich-dev, gfortran) is not installed");
  }
  check_ring({"mpiexec.hydra", "-n", "3"}, program);
}
