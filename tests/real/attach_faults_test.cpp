// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Whoever is killed in the middle of an attach, mpiacq or mpirun: the other goes on as it should.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

#include "openmpi.hpp"
#include "running_job.hpp"

using namespace mpiacq::test;
using nanoseconds = std::chrono::nanoseconds;

namespace {

/// The processes that still trace for a tool of that number, which calls them "tracer of NUMBER".
bool has_a_tracing_process(pid_t tool) {
  const std::string its_arguments = std::string("tracer\0of\0", 10) + std::to_string(tool) + '\0';
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    if (file_contents(entry.path() / "cmdline") == its_arguments) return true;
  }
  return false;
}

void let_pass(nanoseconds time) {
  const timespec moment{time.count() / 1'000'000'000, time.count() % 1'000'000'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, nullptr);
}

/// How long a whole attach takes here and now.
nanoseconds time_of_an_attach(const running_job& job) {
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(run_command({MPIACQ_COMMAND, "attach", job.pid_text()}).exit_code == 0);
  return std::chrono::steady_clock::now() - begin;
}

}  // namespace

TEST_CASE("Open MPI: mpiacq attach killed at any moment leaves the job running, and ending as it would have") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  running_job job(mpirun_line(4, {"--exit", "3"}), 4);
  REQUIRE(job.ranks().size() == 4);
  const std::string image = image_of(job.pid(), openmpi_library);
  REQUIRE_FALSE(image.empty());
  const nanoseconds whole = time_of_an_attach(job);
  int killed_while_attached = 0;
  constexpr int rounds = 24;
  for (int round = 0; round < rounds; ++round) {
    INFO("round " << round);
    // Every other one stays attached, so that late moments find it there.
    const std::string after = round % 2 == 0 ? "detach" : "continue";
    const pid_t tool = start_process({MPIACQ_COMMAND, "attach", "--then", after, job.pid_text()});
    let_pass(whole * (round + 1) / (rounds - 4));
    killed_while_attached += job.disturbed().empty() ? 0 : 1;
    ::kill(tool, SIGKILL);
    int status = 0;
    REQUIRE(wait_for_process(tool, status, patience));
    CHECK(comes_true([&] { return !has_a_tracing_process(tool) && job.disturbed().empty(); }));
    CHECK(job.disturbed() == "");
  }
  CHECK(killed_while_attached > 0);

  // Nobody could take MPIR_being_debugged back; the next tool does.
  (void)time_of_an_attach(job);
  CHECK(image_of(job.pid(), openmpi_library) == image);
  const job_end end = job.finish();
  INFO(end.out);
  CHECK(end.as_shell() == 3);
  CHECK(end.all_ranks_ended(4));
}

TEST_CASE("Open MPI: mpirun killed at any moment of an attach: mpiacq says so, and ends") {
  if (!have_openmpi()) MPIACQ_SKIP(openmpi_not_installed);
  constexpr int rounds = 6;
  for (int round = 0; round < rounds; ++round) {
    INFO("round " << round);
    running_job job(mpirun_line(1), 1);
    REQUIRE(job.ranks().size() == 1);
    const nanoseconds whole = time_of_an_attach(job);
    const scratch_folder folder;
    const std::string said = folder.path("said");
    const pid_t tool = start_process(
        {MPIACQ_COMMAND, "attach", "--json", "-o", folder.path("report"), "--then", "continue", job.pid_text()}, said);
    let_pass(whole * (round + 1) / (rounds - 1));
    ::kill(job.pid(), SIGKILL);
    int status = 0;
    REQUIRE(wait_for_process(tool, status, patience));
    const std::string words = file_contents(said);
    INFO(words);
    REQUIRE(WIFEXITED(status));
    CHECK(words.starts_with("mpiacq: "));
    CHECK_THAT(words, ContainsSubstring(job.pid_text()));
    const bool reported = !file_contents(folder.path("report")).empty();
    CHECK(WEXITSTATUS(status) == (reported ? 0 : 125));
    if (reported) CHECK_THAT(words, ContainsSubstring("ended: signal 9"));
  }
}
