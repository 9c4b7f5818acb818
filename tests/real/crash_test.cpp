// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq watch --crash on Open MPI and MPICH: which rank has failed, where, and that the job ends as it would have.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "catch.hpp"
#include "crash_ways.hpp"
#include "gdb.hpp"

using namespace mpiacq::test;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using nlohmann::json;

namespace {

/// MPICH's starter kills the other ranks, and ends with the status of any of them: 0, 3, 9 or 15 for an exit with 3.
/// Its status therefore shows nothing.
/// MPI_Abort returns in MPICH 4.2, which other releases have.
const bool is_other_release = std::getenv("MPIACQ_TREE_RELEASE") != nullptr;
const known_mpi known_mpis[] = {{"openmpi", {"mpirun.openmpi", "--oversubscribe", "-n", "3"}},
                                {"mpich", {"mpiexec.hydra", "-n", "3"}, false, is_other_release}};
const known_mpi& open_mpi = known_mpis[0];
const known_mpi& known_mpich = known_mpis[1];

/// A control group whose processes have little memory; removed at the end. `why_not`: there is none.
class small_memory {
 public:
  small_memory() {
    const bool is_second = std::filesystem::exists("/sys/fs/cgroup/cgroup.controllers");
    const std::string root = is_second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    folder_ = root + "/mpiacq-test-" + std::to_string(::getpid());
    std::error_code problem;
    std::filesystem::create_directory(folder_, problem);
    if (problem) {
      why_not = "no control group for memory can be made: " + problem.message();
      folder_.clear();
      return;
    }
    std::ofstream limit(folder_ + (is_second ? "/memory.max" : "/memory.limit_in_bytes"));
    limit << (400U << 20U);
    limit.close();
    if (!limit) why_not = "the memory of a control group cannot be limited";
  }
  ~small_memory() {
    std::error_code ignored;
    if (!folder_.empty()) (void)comes_true([&] { return std::filesystem::remove(folder_, ignored); });
  }
  small_memory(const small_memory&) = delete;
  small_memory& operator=(const small_memory&) = delete;
  /// A command that joins the group, and then executes its arguments.
  [[nodiscard]] std::vector<std::string> joined() const {
    return {"sh", "-c", "echo $$ > " + folder_ + "/cgroup.procs && exec \"$0\" \"$@\""};
  }

  std::string why_not;

 private:
  std::string folder_;
};

}  // namespace

TEST_CASE("watch --crash: Open MPI: the rank that fails is named with its line, and the job ends as without mpiacq",
          "[releases]") {
  if (!is_there(open_mpi, "mpi_crash")) MPIACQ_SKIP("Open MPI for C++ (openmpi-bin, libopenmpi-dev) is not installed");
  check_ways(open_mpi);
}

TEST_CASE("watch --crash: MPICH: the rank that fails is named with its line", "[releases]") {
  if (!is_there(known_mpich, "mpi_crash")) MPIACQ_SKIP("MPICH for C++ (mpich, libmpich-dev) is not installed");
  check_ways(known_mpich);
}

TEST_CASE("watch --crash: a Fortran program that stops before MPI_Finalize has failed") {
  for (const known_mpi& mpi : known_mpis) {
    if (!is_there(mpi, "mpi_stop")) MPIACQ_SKIP(std::string("no Fortran for ") + mpi.name);
    INFO(mpi.name);
    const scratch_folder folder;
    const std::string reports = folder.path("reports");
    const auto line = line_of(mpi, "mpi_stop", {});
    const auto run = watch_crash({"--report", reports}, line);
    INFO(run.err);
    const std::string sentence = report_in(reports).at("verdict").at("sentence");
    CHECK_THAT(sentence, StartsWith("rank 1 exited with status 5 before MPI_Finalize at mpi_stop.f90:"));
    check_end(run, line, mpi);
  }
}

TEST_CASE("watch --crash: a status after MPI_Finalize, and a program without MPI that ends well, are no failures") {
  for (const known_mpi& mpi : known_mpis) {
    if (!is_there(mpi, "mpi_crash")) MPIACQ_SKIP(std::string("no C++ for ") + mpi.name);
    INFO(mpi.name);
    const scratch_folder folder;
    const auto late = watch_crash({"--report", folder.path("late")}, line_of(mpi, "mpi_crash", {"late"}));
    INFO(late.err);
    CHECK(late.exit_code == 4);
    const bool is_reported = std::filesystem::exists(folder.path("late") + "/report.json");
    // MPICH 4.2 does not show that MPI_Finalize has returned.
    if (is_reported && &mpi == &known_mpich && is_other_release) {
      const std::string sentence = report_in(folder.path("late")).at("verdict").at("sentence");
      CHECK(sentence == "rank 1 exited with status 4");
    } else {
      CHECK_FALSE(is_reported);
    }
    auto words = mpi.starter;
    words.insert(words.end(), {"sleep", "1"});
    (void)watch_crash({"--report", folder.path("plain")}, words);
    CHECK_FALSE(std::filesystem::exists(folder.path("plain") + "/report.json"));
  }
}

TEST_CASE("watch --crash: the other ranks are held and in the tree, and core files show where each rank was") {
  if (!is_there(open_mpi, "mpi_crash")) MPIACQ_SKIP("Open MPI for C++ (openmpi-bin, libopenmpi-dev) is not installed");
  const scratch_folder folder;
  const std::string reports = folder.path("reports");
  const auto run = watch_crash({"--report", reports, "--cores", "all"}, line_of(open_mpi, "mpi_crash", {"segv"}));
  INFO(run.err);
  const json report = report_in(reports);
  for (const json& rank : report.at("stacks").at("ranks")) CHECK(rank.at("outcome") == "taken");
  const json& crash = report.at("crash");
  REQUIRE(crash.at("ends").size() == 1);
  const json& end = crash.at("ends").front();
  CHECK(end.at("rank") == "1");
  CHECK(end.at("signal") == SIGSEGV);
  CHECK(end.at("exit_status").is_null());
  CHECK(end.at("address") == "0x10");
  CHECK(end.at("registers").is_object());
  REQUIRE(crash.at("cores").size() == 3);
  if (!is_installed("gdb")) MPIACQ_SKIP(gdb_not_installed);
  for (const json& core : crash.at("cores")) {
    const std::string path = core.at("path");
    const auto gdb =
        run_command(gdb_command({"-ex", "bt", program_of(open_mpi, "mpi_crash"), path}), openmpi_options());
    const bool is_failing = core.at("rank") == "1";
    CHECK_THAT(gdb.out, ContainsSubstring(is_failing ? "write_to" : "PMPI_Barrier"));
  }
}

TEST_CASE("watch --crash: a job that the user ends is not reported as failed") {
  if (!is_there(open_mpi, "mpi_crash")) MPIACQ_SKIP("Open MPI for C++ (openmpi-bin, libopenmpi-dev) is not installed");
  const scratch_folder folder;
  // Each rank prints its pid into a file of its own.
  const std::string with_file = "exec \"$0\" > " + folder.path("out.") + "$OMPI_COMM_WORLD_RANK";
  running_command watcher(
      {MPIACQ_COMMAND, "watch", "--crash", "--report", folder.path("reports"), "--", "mpirun.openmpi",
       "--oversubscribe", "-n", "3", "sh", "-c", with_file, rank_program("mpi_deadlock_openmpi")},
      openmpi_options());
  const auto is_followed = [&](int rank) {
    const auto pids = pids_printed(file_contents(folder.path("out.") + std::to_string(rank)));
    if (pids.size() != 1) return false;
    const std::string status = file_contents("/proc/" + std::to_string(pids.begin()->second) + "/status");
    return status.find("TracerPid:") != std::string::npos && status.find("TracerPid:\t0\n") == std::string::npos;
  };
  for (int rank = 0; rank < 3; ++rank) REQUIRE(comes_true([&] { return is_followed(rank); }));
  REQUIRE(::kill(watcher.pid(), SIGTERM) == 0);
  const auto run = watcher.wait();
  INFO(run.err);
  CHECK(run.exit_code != 0);
  CHECK_FALSE(std::filesystem::exists(folder.path("reports") + "/report.json"));
}

TEST_CASE("watch --crash: a rank that the kernel kills for lack of memory is named with the line that took it") {
  if (!is_there(open_mpi, "mpi_crash")) MPIACQ_SKIP("Open MPI for C++ (openmpi-bin, libopenmpi-dev) is not installed");
  const small_memory group;
  if (!group.why_not.empty()) MPIACQ_SKIP(group.why_not);
  auto line = open_mpi.starter;
  for (const auto& word : group.joined()) line.push_back(word);
  line.push_back(program_of(open_mpi, "mpi_crash"));
  line.emplace_back("memory");
  // Two seconds after the kernel has killed the rank, it frees the memory with the stack. On a loaded machine, mpiacq
  // may get a processor too late.
  constexpr int most_tries = 5;
  bool line_is_named = false;
  for (int i = 0; i < most_tries && !line_is_named; ++i) {
    const scratch_folder folder;
    const auto run = watch_crash({"--report", folder.path("reports")}, line);
    INFO(run.err);
    const std::string sentence = report_in(folder.path("reports")).at("verdict").at("sentence");
    CHECK_THAT(sentence,
               StartsWith("rank 1 received SIGKILL, and meanwhile the kernel has killed a process of its node"));
    CHECK(run.exit_code == 128 + 9);
    line_is_named = sentence.find(" at mpi_crash.cpp:") != std::string::npos;
  }
  CHECK(line_is_named);
}
