// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A job that stands still because a signal has stopped one of its ranks. That it ends after SIGCONT shows that there
// was no deadlock.
#include <csignal>
#include <filesystem>

#include "found_job.hpp"
#include "openmpi.hpp"
#include "running_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

namespace {

constexpr std::size_t ranks_of_job = 3;

void check_stopped_rank(const std::vector<std::string>& starter, const std::string& program) {
  auto line = starter;
  line.insert(line.end(), {"-n", std::to_string(ranks_of_job), rank_program(program)});
  running_job job(line, ranks_of_job);
  REQUIRE(job.ranks().size() == ranks_of_job);
  const long stopped = job.ranks().at(1);
  REQUIRE(comes_true([&] { return process_state(stopped) == 'T'; }));
  // Rank 0 sends and receives after it has stopped rank 1.
  json report;
  CHECK(comes_true([&] {
    // The status is 1 where no queues could be read, as with MPICH.
    const auto run = run_command({MPIACQ_COMMAND, "report", "--json", job.pid_text()}, openmpi_options());
    INFO(run.err);
    REQUIRE(!run.out.empty());
    report = json::parse(run.out);
    return report.at("queues").at("ranks").at(0).at("call") == "MPI_Recv" &&
           report.at("queues").at("ranks").at(2).at("call") == "MPI_Barrier";
  }));
  INFO(report.dump(1));
  CHECK(report.at("verdict").at("basis") == "stopped");
  const auto sentence = report.at("verdict").at("sentence").get<std::string>();
  CHECK(sentence.starts_with("a signal has stopped rank 1 in MPI_Recv at mpi_stopped.c:"));
  CHECK_THAT(sentence, ContainsSubstring(": only SIGCONT lets it continue"));
  CHECK(report.at("queues").at("cycles").empty());
  for (const std::size_t rank : {0U, 1U, 2U}) {
    CHECK(report.at("queues").at("ranks").at(rank).at("stopped_by_signal") == (rank == 1));
  }
  const auto text = run_command({MPIACQ_COMMAND, "queues", job.pid_text()}, openmpi_options());
  CHECK_THAT(text.out, ContainsSubstring("\n  rank 1: stopped by a signal, in MPI_Recv at mpi_stopped.c:") &&
                           ContainsSubstring("; only SIGCONT lets it continue\n"));
  CHECK(process_state(stopped) == 'T');
  REQUIRE(::kill(static_cast<pid_t>(stopped), SIGCONT) == 0);
  const job_end end = job.wait();
  INFO(end.out);
  CHECK_FALSE(end.timed_out);
  CHECK(end.as_shell() == 0);
  CHECK(end.all_ranks_ended(ranks_of_job));
}

}  // namespace

TEST_CASE("openmpi: a rank that a signal has stopped is named, and is in no deadlock", "[releases]") {
  if (!have_openmpi() || !std::filesystem::exists(rank_program("mpi_stopped_openmpi")))
    MPIACQ_SKIP(openmpi_not_installed);
  check_stopped_rank({mpirun, "--oversubscribe"}, "mpi_stopped_openmpi");
}

TEST_CASE("MPICH: a rank that a signal has stopped is named, and is in no deadlock") {
  if (!std::filesystem::exists(rank_program("mpi_stopped_mpich")))
    MPIACQ_SKIP("MPICH (mpich, libmpich-dev) is not installed");
  check_stopped_rank({"mpiexec.hydra"}, "mpi_stopped_mpich");
}
