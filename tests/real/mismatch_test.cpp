// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Collective calls of real jobs that do not belong together: which rank makes which call is in the source of the
// program (fixtures/ranks/mpi_hangs.c).
#include <filesystem>
#include <map>

#include "found_job.hpp"
#include "openmpi.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

using calls_by_ranks = std::map<std::string, std::string>;

struct sample {
  const char* hang;
  bool is_deadlock;  ///< otherwise a rank has not come yet, and the calls are different anyway
  calls_by_ranks calls;
};

/// The calls of the only mismatch; empty if there is not one.
calls_by_ranks calls_in(const json& mismatches) {
  calls_by_ranks found;
  if (mismatches.size() != 1) return found;
  for (const json& one : mismatches.at(0).at("calls")) found[one.at("ranks")] = one.at("call");
  return found;
}

calls_by_ranks mismatch_of(const json& seen, bool is_deadlock) {
  if (!is_deadlock) return calls_in(seen.at("mismatches"));
  return seen.at("deadlocks").size() == 1 ? calls_in(seen.at("deadlocks").at(0).at("mismatches")) : calls_by_ranks{};
}

}  // namespace

TEST_CASE("mismatch: ranks whose collective calls do not belong together are named with what differs") {
  const std::string mpi = GENERATE("openmpi", "mpich");
  const auto one = GENERATE(
      sample{"different_calls", true, {{"1", "MPI_Allreduce"}, {"0,2-3", "MPI_Barrier"}}},
      // Ranks 0 and 3 are in a barrier, behind this deadlock.
      sample{"different_roots", true, {{"1", "MPI_Bcast with root 2"}, {"2", "MPI_Bcast with root 1"}}},
      sample{"different_amounts", false, {{"0", "MPI_Bcast with 8 bytes"}, {"1-2", "MPI_Bcast with 4 bytes"}}},
      sample{
          "different_operations", false, {{"0", "MPI_Allreduce with MPI_MAX"}, {"1-2", "MPI_Allreduce with MPI_SUM"}}});
  const std::string program = rank_program("mpi_hangs_" + mpi);
  const std::string starter = mpi == "mpich" ? "mpiexec.hydra" : "mpirun.openmpi";
  INFO(mpi << ": " << one.hang);
  if (!is_installed(starter) || !std::filesystem::exists(program)) MPIACQ_SKIP(starter + " or its compiler is missing");
  std::vector<std::string> line = {starter, "-n", "4", program, one.hang};
  if (mpi == "openmpi") line.insert(line.begin() + 1, {"--oversubscribe", "--mca", "pml", "ob1"});
  const running_job job(line, 4);
  REQUIRE(job.ranks().size() == 4);
  json seen;
  // The ranks need a moment to come to their calls.
  CHECK(comes_true([&] {
    // Without a queue library, the command ends with 1.
    seen = json::parse(run_command({MPIACQ_COMMAND, "queues", "--json", job.pid_text()}, openmpi_options()).out);
    return mismatch_of(seen, one.is_deadlock) == one.calls;
  }));
  INFO(seen.at("deadlocks").dump(1) << seen.at("mismatches").dump(1) << seen.at("waits").dump(1));
  CHECK(mismatch_of(seen, one.is_deadlock) == one.calls);
}
