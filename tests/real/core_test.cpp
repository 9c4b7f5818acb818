// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A core file of the distribution's mpirun: taken while the job is held, read when the job has ended.
#include <filesystem>

#include "real_job.hpp"

using namespace mpiacq::test;
using nlohmann::json;

TEST_CASE("Open MPI: the core of mpirun has the pids that the ranks print") {
  if (!is_installed("mpirun.openmpi") || !std::filesystem::exists(rank_program("mpi_pids_openmpi"))) {
    MPIACQ_SKIP("Open MPI (openmpi-bin, libopenmpi-dev) is not installed");
  }
  if (!is_installed("gcore")) MPIACQ_SKIP("gcore (gdb) is not installed");
  const scratch_folder folder;
  // What mpiacq says when it has let go is waited for; the pipe stays open for what mpirun says later.
  const char* const script = R"(
    mkfifo said; exec 8<>said
    "$0" launch --json -o report --then stop -- mpirun.openmpi -n 4 "$1" 2>&8 >ranks &
    grep -m 1 'left stopped' <&8 >/dev/null
    pid=$(sed 's/.*"starter":{"pid":\([0-9]*\).*/\1/' report)
    gcore -o core "$pid" >gcore.log 2>&1; taken=$?
    kill -CONT "$pid"
    wait $! || exit 3
    test $taken -eq 0 || exit 4
    exec "$0" attach --json --core "core.$pid")";
  command_options how;
  how.environment = openmpi_environment();
  how.directory = std::filesystem::path(folder.path("x")).parent_path().string();
  how.limit = std::chrono::seconds(90);
  const auto run = run_command({"sh", "-c", script, MPIACQ_COMMAND, rank_program("mpi_pids_openmpi")}, how);
  INFO(run.err);
  INFO(run.out);
  REQUIRE(run.exit_code == 0);
  const json report = json::parse(run.out);
  CHECK(report.at("starter").at("mode") == "core");
  CHECK(report.at("starter").at("executable") ==
        json::parse(file_contents(folder.path("report")))["starter"]["executable"]);
  CHECK(report.at("problems").empty());
  CHECK_THAT(report.at("symbols").at("MPIR_proctable").at("module").get<std::string>(),
             ContainsSubstring("libopen-rte"));
  const auto printed = pids_printed(file_contents(folder.path("ranks")));
  REQUIRE(printed.size() == 4);
  CHECK(pids_reported(report) == printed);
  // By then they have ended.
  for (const json& process : report.at("processes")) CHECK(process.at("state") == "gone");
}
