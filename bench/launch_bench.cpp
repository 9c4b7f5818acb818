// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a launch under mpiacq costs a job of four ranks: against the starter's own MPIR mode without any tool (the
// floor), against a plain run, and against gdb doing the same. All four in turn, medians of pairs.
//   launch_bench [ROUNDS]
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "paired_runs.hpp"

using namespace mpiacq::bench;

namespace {

struct work {
  std::string name;
  std::vector<std::string> command;
  std::string preload;
  std::vector<double> milliseconds = {};
};

/// Wall time of one run, or a negative number where it did not end in 0.
double run_once(const work& what) {
  std::vector<std::string> words = what.command;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (what.preload.empty()) {
    ::unsetenv("LD_PRELOAD");
  } else {
    ::setenv("LD_PRELOAD", what.preload.c_str(), 1);
  }
  posix_spawn_file_actions_t quiet;
  ::posix_spawn_file_actions_init(&quiet);
  ::posix_spawn_file_actions_addopen(&quiet, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const auto begun = std::chrono::steady_clock::now();
  const int failed = ::posix_spawnp(&child, argv[0], &quiet, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&quiet);
  int status = -1;
  if (failed != 0 || ::waitpid(child, &status, 0) != child || status != 0) return -1;
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 15;
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  ::setenv("OMPI_MPIR_DO_NOT_WARN", "1", 1);
  const std::vector<std::string> job = {"mpirun.openmpi", "--oversubscribe", "-n", "4", MPIACQ_RANK_PROGRAM};
  const auto under = [&](std::vector<std::string> tool) {
    tool.insert(tool.end(), job.begin(), job.end());
    return tool;
  };
  std::vector<work> works = {
      {"floor: MPIR_being_debugged preset, no tool", job, MPIACQ_PRESET},
      {"mpiacq launch", under({MPIACQ_COMMAND, "launch", "--json", "-o", "/dev/null", "--"}), {}},
      {"plain", job, {}},
      {"rival: gdb with a Python script", under({"gdb", "-q", "-batch", "-x", MPIACQ_GDB_SCRIPT, "--args"}), {}},
  };
  for (int round = -1; round < rounds; ++round) {
    for (work& what : works) {
      const double milliseconds = run_once(what);
      if (milliseconds < 0) {
        fmt::print(stderr, "launch_bench: '{}' did not run to a good end\n", what.name);
        return 1;
      }
      // The first round only warms the caches.
      if (round >= 0) what.milliseconds.push_back(milliseconds);
    }
  }
  fmt::print("mpirun -n 4, {} rounds in turn\n", rounds);
  fmt::print("{:<46} {:>12} {:>30}\n", "", "median", "ratio to the floor (quartiles)");
  for (const work& what : works) {
    const quartiles ratio = ratio_of_pairs(what.milliseconds, works.front().milliseconds);
    fmt::print("{:<46} {:>9.1f} ms {:>11.3f} ({:.3f} - {:.3f})\n", what.name, quartiles_of(what.milliseconds).median,
               ratio.median, ratio.low, ratio.high);
  }
}
