// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq, which has launched a job, is killed; and what becomes of the job.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "real_job.hpp"

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
inline bool kill_mpiacq(const std::vector<std::string>& line, const kill_moment& when, int job_status = 3) {
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

}  // namespace mpiacq::test
