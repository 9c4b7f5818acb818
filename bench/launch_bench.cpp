// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a launch under mpiacq costs a job: against the starter's own MPIR mode without any tool (the
// floor), against a plain run, and against gdb doing the same. All four in turn, medians of pairs. What the tool itself
// calls, and what memory it and its tracing process have, is looked at in runs of their own.
//   launch_bench [RANKS...]
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_sizes.hpp"
#include "floor/bare_hold.hpp"
#include "measurement.hpp"
#include "peak_memory.hpp"
#include "system_calls.hpp"

using namespace mpiacq::bench;

namespace {

struct work {
  std::string name;
  std::vector<std::string> command;
  std::string preload;
  std::vector<double> milliseconds = {};
};

/// 0 where it does not start. `input` and `output`: descriptors, or -1 for none.
pid_t start(const work& what, int input = -1, int output = -1) {
  std::vector<std::string> words = what.command;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (what.preload.empty()) {
    ::unsetenv("LD_PRELOAD");
  } else {
    ::setenv("LD_PRELOAD", what.preload.c_str(), 1);
  }
  posix_spawn_file_actions_t streams;
  ::posix_spawn_file_actions_init(&streams);
  for (const auto& [descriptor, given] : {std::pair{0, input}, {1, output}, {2, -1}}) {
    if (given >= 0) {
      ::posix_spawn_file_actions_adddup2(&streams, given, descriptor);
    } else {
      ::posix_spawn_file_actions_addopen(&streams, descriptor, "/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY, 0);
    }
  }
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, argv[0], &streams, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&streams);
  return failed == 0 ? child : 0;
}

bool ended_well(pid_t child) {
  int status = -1;
  return child != 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

/// Wall time of one run, or a negative number where it did not end in 0.
double run_once(const work& what) {
  const auto begun = steady::now();
  return ended_well(start(what)) ? milliseconds_since(begun) : -1;
}

/// The most that the tool and its tracing process have had while their job ran, asked when all ranks have said who they
/// are; rank 0 then waits for the end of its input. 0: not known.
std::uint64_t peak_of_tool(work tool, std::size_t ranks) {
  char folder[] = "/tmp/mpiacq-bench-XXXXXX";
  int input[2], output[2];
  must_be(::mkdtemp(folder) != nullptr && ::pipe2(input, O_CLOEXEC) == 0 && ::pipe2(output, O_CLOEXEC) == 0, "pipe2");
  tool.command.insert(tool.command.end(), {"--hold", folder});
  const pid_t child = start(tool, input[0], output[1]);
  ::close(input[0]);
  ::close(output[1]);
  std::size_t lines = 0;
  for (char byte = 0; lines < ranks && ::read(output[0], &byte, 1) == 1;) lines += byte == '\n' ? 1 : 0;
  const std::uint64_t peak = lines == ranks ? peak_of(std::to_string(child)) + peak_of_children(child, "tracer") : 0;
  ::close(input[1]);
  const bool fine = ended_well(child);
  ::close(output[0]);
  std::error_code left;
  std::filesystem::remove_all(folder, left);
  return fine ? peak : 0;
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
  // Not what the starter and the ranks call, which is the same in all and never twice the same number.
  const system_call_counter of_tool(R"(COMM == "mpiacq" || COMM == "tracer")");
  const auto calls = of_tool.of([&] { (void)run_once(ours); });
  measurement("launch, mpirun", ranks, "ranks")
      .ours(ours.milliseconds)
      .floor("the same with MPIR_being_debugged preset by a preloaded library, and no tool", floor.milliseconds)
      .rival("gdb with a Python script", gdb.milliseconds)
      .memory(peak_of_tool(ours, ranks), 0)
      .calls(calls, 0)
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
