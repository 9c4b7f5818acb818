// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a launch under mpiacq costs a job: against the starter's own MPIR mode without any tool (the
// floor), against a plain run, and against gdb doing the same. All four in turn, medians of pairs.
//   launch_bench [RANKS...]
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_sizes.hpp"
#include "measurement.hpp"

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
  const auto begun = steady::now();
  const int failed = ::posix_spawnp(&child, argv[0], &quiet, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&quiet);
  int status = -1;
  if (failed != 0 || ::waitpid(child, &status, 0) != child || status != 0) return -1;
  return milliseconds_since(begun);
}

/// False where one of them did not end as it should.
bool measure(std::size_t ranks, int rounds) {
  const std::vector<std::string> job = {"mpirun.openmpi", "--oversubscribe", "-n", std::to_string(ranks),
                                        MPIACQ_RANK_PROGRAM};
  const auto under = [&](std::vector<std::string> tool) {
    tool.insert(tool.end(), job.begin(), job.end());
    return tool;
  };
  std::vector<work> works = {
      {"floor", job, MPIACQ_PRESET},
      {"mpiacq", under({MPIACQ_COMMAND, "launch", "--json", "-o", "/dev/null", "--"}), {}},
      {"plain", job, {}},
      {"gdb", under({"gdb", "-q", "-batch", "-x", MPIACQ_GDB_SCRIPT, "--args"}), {}},
  };
  for (int round = -1; round < rounds; ++round) {
    for (work& what : works) {
      const double milliseconds = run_once(what);
      if (milliseconds < 0) {
        fmt::print(stderr, "launch_bench: '{}' did not run to a good end\n", what.name);
        return false;
      }
      // The first round only warms the caches.
      if (round >= 0) what.milliseconds.push_back(milliseconds);
    }
  }
  const work &floor = works[0], &ours = works[1], &plain = works[2], &gdb = works[3];
  measurement("launch, mpirun", ranks, "ranks")
      .ours(ours.milliseconds)
      .floor("the same with MPIR_being_debugged preset by a preloaded library, and no tool", floor.milliseconds)
      .rival("gdb with a Python script", gdb.milliseconds)
      .figure("plain_ms", median_of(plain.milliseconds))
      .print();
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int rounds = 15;
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  ::setenv("OMPI_MPIR_DO_NOT_WARN", "1", 1);
  bool fine = true;
  for (const std::size_t ranks : sizes(argc, argv, {4})) fine = measure(ranks, rounds) && fine;
  return fine ? 0 : 1;
}
