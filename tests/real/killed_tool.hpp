// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq, which has launched a job, is killed; and what becomes of the job.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "openmpi.hpp"

namespace mpiacq::test {

/// What became of the orphans that came to us, by pid; waits for all of them.
inline std::map<pid_t, int> orphans_ended() {
  std::map<pid_t, int> ended;
  int status = 0;
  for (pid_t orphan = 0; (orphan = ::waitpid(-1, &status, 0)) > 0;) ended[orphan] = status;
  return ended;
}

struct kill_moment {
  std::string once_there;  ///< counted from when this file has something in it; empty: from the launch
  std::chrono::nanoseconds after;
};

/// Launches the job, and kills mpiacq after so long; false where it had ended before, with the status of the job.
inline bool kill_mpiacq(const std::vector<std::string>& line, const kill_moment& when, int job_status) {
  std::vector<char*> argv;
  for (const std::string& word : line) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t tool = ::fork();
  if (tool == 0) {
    // What the job says would only mix with what the test says.
    if (::freopen("/dev/null", "w", stdout) == nullptr || ::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(99);
    ::execv(argv[0], argv.data());
    ::_exit(99);
  }
  if (!when.once_there.empty()) REQUIRE(comes_true([&] { return !file_contents(when.once_there).empty(); }));
  const timespec moment{when.after.count() / 1'000'000'000, when.after.count() % 1'000'000'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, nullptr);
  ::kill(tool, SIGKILL);
  int status = 0;
  REQUIRE(::waitpid(tool, &status, 0) == tool);
  if (WIFEXITED(status)) CHECK(WEXITSTATUS(status) == job_status);
  return !WIFEXITED(status);
}

struct killed_launches {
  int rounds = 0;
  int status = 0;  ///< of each job
  /// The command line of mpiacq for a file that its report goes to and the options of the four ranks.
  std::function<std::vector<std::string>(const std::string& report, const std::vector<std::string>& options)> line;
  bool also_before_the_job = false;  ///< in each fourth round mpiacq is killed right after its start
};

/// Launches jobs with mpiacq, and kills mpiacq later in each round. Each job ends as it would have. Returns how many
/// jobs have lost mpiacq.
inline int check_killed_launches(const killed_launches& wanted) {
  // Orphans come to this program, so that mpirun's status can be seen.
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  for (const auto& [name, value] : openmpi_environment()) ::setenv(name.c_str(), value.c_str(), 1);
  int jobs_orphaned = 0;
  std::chrono::nanoseconds length{};  // of the first round's job, which is not disturbed
  for (int round = 0; round < wanted.rounds; ++round) {
    INFO("round " << round);
    const scratch_folder folder;
    const std::string marks = std::filesystem::path(folder.path("x")).parent_path().string();
    auto line = wanted.line(folder.path("report"), {"--after-init", marks, "--exit", std::to_string(wanted.status)});
    // A shell writes down the pid that mpirun then has.
    const auto starter = std::find(line.begin(), line.end(), mpirun);
    line.insert(starter, {"sh", "-c", "echo $$ > " + folder.path("pid") + "; exec \"$@\"", "sh"});
    if (round == 0) {
      const auto begun = std::chrono::steady_clock::now();
      REQUIRE(run_command(line, openmpi_options()).exit_code == wanted.status);
      length = std::chrono::steady_clock::now() - begun;
      continue;
    }
    // Mostly from when mpirun is there: its start may take long.
    const kill_moment when = wanted.also_before_the_job && round % 4 == 0
                                 ? kill_moment{{}, std::chrono::milliseconds(round)}
                                 : kill_moment{folder.path("pid"), length * round / wanted.rounds};
    if (!kill_mpiacq(line, when, wanted.status)) continue;
    const auto ended = orphans_ended();
    const std::string pid = file_contents(folder.path("pid"));
    if (pid.empty()) continue;  // it was killed before there was a job
    for (int rank = 0; rank < 4; ++rank) {
      CHECK(std::filesystem::exists(folder.path("rank." + std::to_string(rank))));
    }
    const auto mpirun_ended = ended.find(std::stoi(pid));
    // It had ended just before mpiacq was killed, and its status went to the tracing process, its parent.
    if (mpirun_ended == ended.end()) continue;
    ++jobs_orphaned;
    CHECK(WIFEXITED(mpirun_ended->second));
    CHECK(WEXITSTATUS(mpirun_ended->second) == wanted.status);
  }
  CHECK(jobs_orphaned > wanted.rounds / 4);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  return jobs_orphaned;
}

}  // namespace mpiacq::test
