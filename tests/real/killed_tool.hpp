// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// mpiacq, which has launched a job, is killed; and what becomes of the job.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "openmpi.hpp"
#include "patience.hpp"
#include "proc/process_state.hpp"
#include "start_child.hpp"

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

/// Launches the job, and kills mpiacq at the moment. Where the job has ended before, with this status, returns how long
/// after the moment's beginning.
inline std::optional<std::chrono::nanoseconds> kill_mpiacq(const std::vector<std::string>& line,
                                                           const kill_moment& when, int job_status) {
  // What the job says would only mix with what the test says.
  const base::unique_fd nothing{::open("/dev/null", O_WRONLY | O_CLOEXEC)};
  child_start how;
  how.out = how.err = nothing.get();
  const pid_t tool = start_child(line, how);
  if (!when.once_there.empty()) REQUIRE(comes_true([&] { return !file_contents(when.once_there).empty(); }));
  const auto begun = std::chrono::steady_clock::now();
  const base::unique_fd process = open_process(process_id{tool});
  REQUIRE(process);
  pollfd end{process.get(), POLLIN, 0};
  const timespec moment{when.after.count() / 1'000'000'000, when.after.count() % 1'000'000'000};
  (void)::ppoll(&end, 1, &moment, nullptr);
  const auto lasted = std::chrono::steady_clock::now() - begun;
  ::kill(tool, SIGKILL);
  int status = 0;
  REQUIRE(::waitpid(tool, &status, 0) == tool);
  if (!WIFEXITED(status)) return std::nullopt;
  CHECK(WEXITSTATUS(status) == job_status);
  return lasted;
}

struct killed_launches {
  int rounds = 0;
  int status = 0;  ///< of each job
  /// The command line of mpiacq for a file that its report goes to and the options of the four ranks.
  std::function<std::vector<std::string>(const std::string& report, const std::vector<std::string>& options)> line;
  bool also_before_the_job = false;  ///< in each fourth round mpiacq is killed right after its start
};

/// Launches a job with mpiacq, whose process writes its pid into the file "pid" of the folder.
inline std::vector<std::string> line_of_launch(const killed_launches& wanted, const scratch_folder& folder) {
  const std::string marks = std::filesystem::path(folder.path("x")).parent_path().string();
  auto line = wanted.line(folder.path("report"), {"--after-init", marks, "--exit", std::to_string(wanted.status)});
  // A shell writes down the pid that mpirun then has.
  const auto starter = std::find(line.begin(), line.end(), mpirun);
  line.insert(starter, {"sh", "-c", "echo $$ > " + folder.path("pid") + "; exec \"$@\"", "sh"});
  return line;
}

/// What has become of the job that mpiacq was killed beside. True if its status came to us.
inline bool check_orphaned_job(const scratch_folder& folder, int job_status) {
  const auto ended = orphans_ended();
  const std::string pid = file_contents(folder.path("pid"));
  if (pid.empty()) return false;  // mpiacq was killed before there was a job
  for (int rank = 0; rank < 4; ++rank) CHECK(std::filesystem::exists(folder.path("rank." + std::to_string(rank))));
  const auto mpirun_ended = ended.find(std::stoi(pid));
  // It had ended just before mpiacq was killed, and its status went to the tracing process, its parent.
  if (mpirun_ended == ended.end()) return false;
  CHECK(WIFEXITED(mpirun_ended->second));
  CHECK(WEXITSTATUS(mpirun_ended->second) == job_status);
  return true;
}

/// Launches jobs with mpiacq, and kills mpiacq later in each round. Each job ends as it would have. Returns how many
/// jobs have lost mpiacq.
inline int check_killed_launches(const killed_launches& wanted) {
  // Orphans come to this program, so that mpirun's status can be seen.
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  for (const auto& [name, value] : openmpi_environment()) ::setenv(name.c_str(), value.c_str(), 1);
  int jobs_orphaned = 0;
  int jobs_too_short = 0;
  // From when mpirun is there: its start may take long. The first job is not disturbed, and a job that ends before its
  // moment says how long jobs take now, so that its round can be repeated.
  std::chrono::nanoseconds length = patience;
  for (int round = 0; round < wanted.rounds;) {
    INFO("round " << round);
    const scratch_folder folder;
    const bool is_early = wanted.also_before_the_job && round % 4 == 0 && round > 0;
    const kill_moment when =
        is_early ? kill_moment{{}, std::chrono::milliseconds(round)}
                 : kill_moment{folder.path("pid"), round == 0 ? length : length * round / wanted.rounds};
    const auto ended_after = kill_mpiacq(line_of_launch(wanted, folder), when, wanted.status);
    REQUIRE((round > 0 || ended_after));
    if (ended_after && !is_early) length = *ended_after;
    if (!ended_after) jobs_orphaned += check_orphaned_job(folder, wanted.status) ? 1 : 0;
    const bool is_repeated = ended_after && round > 0 && jobs_too_short < wanted.rounds;
    jobs_too_short += is_repeated ? 1 : 0;
    round += is_repeated ? 0 : 1;
  }
  CHECK(jobs_orphaned > wanted.rounds / 4);
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  return jobs_orphaned;
}

}  // namespace mpiacq::test
