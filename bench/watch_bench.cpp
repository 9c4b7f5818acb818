// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a watch costs a job: a run of LAMMPS under `mpiacq watch` and a plain one, in turn; and one look of a watch at
// many ranks, with the time for which a rank was stopped.
//   watch_bench [RANKS...]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_sizes.hpp"
#include "floor/bare_stacks.hpp"
#include "in_turn.hpp"
#include "job_of_copies.hpp"
#include "measurement.hpp"
#include "mpiacq/ranks/job_watch.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "processor_time.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

constexpr std::size_t bytes_of_a_stack = 65536;  // as the library copies at first

/// A watch that has found the ranks at the same places before, as nearly all looks do.
void one_look(std::size_t count) {
  const job_of_copies job(MPIACQ_DEEP_RANK, static_cast<int>(count));
  auto ranks = rank_group::of_processes(job.pids());
  if (!ranks) std::abort();
  job_watch watch(*ranks, {.hang = std::chrono::hours(24)});
  (void)watch.look();
  std::vector<pid_t> numbers;
  for (const process_id pid : job.pids()) numbers.push_back(static_cast<pid_t>(pid.value()));
  std::vector<char> buffer(bytes_of_a_stack, 'x');
  const auto [floor, own] = in_turn(
      {7, 61, 3000}, [&] { bare_stacks(numbers, buffer); }, [&] { (void)watch.look(); });
  // A watch knows its longest stop, so that each look here is of a new watch.
  std::vector<double> stops;
  for (int i = 0; i < 500; ++i) {
    job_watch fresh(*ranks, {.hang = std::chrono::hours(24)});
    (void)fresh.look();
    stops.push_back(std::chrono::duration<double, std::micro>(fresh.longest_stop()).count());
  }
  std::sort(stops.begin(), stops.end());
  const std::size_t together = std::min(count, job_watch_options{}.ranks_at_once);
  measurement("a look of a watch", count, "ranks")
      .ours(own)
      .floor("hold, registers, 64 KiB of each stack, release; nothing is made of them", floor)
      .figure("stop_us_median", stops[stops.size() / 2])
      .figure("stop_us_99_percent", stops[stops.size() * 99 / 100])
      .figure("stop_us_longest", stops.back())
      .figure("stopped_together", static_cast<double>(together))
      .print();
}

/// Waits for the end of a job, and meanwhile asks every tenth of a second what the tool has taken. The tool's share of
/// a processor counts from the fifth second on: before that, the tool starts and reads the symbols once.
class shares_of_tool {
 public:
  void wait_for_end_of(pid_t tool, int& status) {
    constexpr double start_ms = 5000;
    const auto begun = steady::now();
    while (::waitpid(tool, &status, WNOHANG) == 0) {
      const double now = milliseconds_since(begun);
      if (const double had = processor_of_tool(tool); had > 0) {
        if (now < start_ms) first_ = {now, had};
        last_ = {now, had};
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  [[nodiscard]] double of_start_ms() const { return first_.had; }
  [[nodiscard]] double percent() const { return 100 * (last_.had - first_.had) / (last_.at - first_.at); }

 private:
  struct reading {
    double at = 0, had = 0;
  };
  reading first_, last_;
};

/// The milliseconds that LAMMPS says its loop took ("Loop time of 17.1 on 2 procs"), or a negative number if the job
/// did not end in 0. Without the start of the job, which takes a tool longer by the time of its own start.
double run_once(std::vector<std::string> words, shares_of_tool& shares) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int output = ::memfd_create("output of LAMMPS", MFD_CLOEXEC);
  must_be(output >= 0, "memfd_create");
  posix_spawn_file_actions_t streams;
  ::posix_spawn_file_actions_init(&streams);
  ::posix_spawn_file_actions_addopen(&streams, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&streams, output, 1);
  ::posix_spawn_file_actions_addopen(&streams, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int status = -1;
  const bool runs = ::posix_spawnp(&child, argv[0], &streams, nullptr, argv.data(), environ) == 0;
  ::posix_spawn_file_actions_destroy(&streams);
  if (runs) shares.wait_for_end_of(child, status);
  std::string said(1 << 16, '\0');
  const ssize_t size = ::pread(output, said.data(), said.size(), 0);
  ::close(output);
  said.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  constexpr std::string_view words_before = "Loop time of ";
  const std::size_t at = said.find(words_before);
  if (status != 0 || at == std::string::npos) return -1;
  return 1e3 * std::strtod(said.c_str() + at + words_before.size(), nullptr);
}

/// False if a run did not end as it should. `hang`: as for `mpiacq watch`; a tenth of it is the time between two looks.
bool whole_job(std::size_t count, const std::string& hang, int rounds) {
  const std::vector<std::string> plain = {
      "mpirun.openmpi", "--oversubscribe", "-n",  std::to_string(count), "lmp",  "-var",
      "steps",          "40000",           "-in", MPIACQ_MELT,           "-log", "none"};
  std::vector<std::string> watched = {MPIACQ_COMMAND, "watch", "--hang", hang, "--"};
  watched.insert(watched.end(), plain.begin(), plain.end());
  std::vector<double> own, floor, percents, starts;
  for (int round = 0; round < rounds; ++round) {
    shares_of_tool none, tool;
    const double without = run_once(plain, none), with = run_once(watched, tool);
    if (without < 0 || with < 0) {
      fmt::print(stderr, "watch_bench: LAMMPS did not run to a good end\n");
      return false;
    }
    floor.push_back(without);
    own.push_back(with);
    percents.push_back(tool.percent());
    starts.push_back(tool.of_start_ms());
  }
  measurement("watch --hang " + hang + ", LAMMPS", count, "ranks")
      .ours(own)
      .floor("the same job without a watch", floor)
      .figure("tool_percent_of_a_processor", median_of(percents))
      .figure("tool_start_ms", median_of(starts))
      .print();
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int rounds = 3;
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  ::setenv("OMPI_MPIR_DO_NOT_WARN", "1", 1);
  for (const std::size_t ranks : sizes(argc, argv, {4, 64})) one_look(ranks);
  bool fine = true;
  for (const char* hang : {"120", "10"}) fine = whole_job(2, hang, rounds) && fine;
  return fine ? 0 : 1;
}
