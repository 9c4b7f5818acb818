// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What a watch costs a job: a run of LAMMPS under `mpiacq watch` and a plain one, in turn; and one look of a watch at
// many ranks, with the time for which a rank was stopped.
//   watch_bench [RANKS...]
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_sizes.hpp"
#include "floor/bare_stacks.hpp"
#include "in_turn.hpp"
#include "job_of_copies.hpp"
#include "measurement.hpp"
#include "mpiacq/ranks/job_watch.hpp"
#include "mpiacq/ranks/rank_group.hpp"

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
  const std::size_t together = std::min(count, job_watch_options{}.ranks_at_once);
  measurement("a look of a watch", count, "ranks")
      .ours(own)
      .floor("hold, registers, 64 KiB of each stack, release; nothing is made of them", floor)
      .figure("longest_stop_us", std::chrono::duration<double, std::micro>(watch.longest_stop()).count())
      .figure("stopped_together", static_cast<double>(together))
      .print();
}

/// Wall time of one run, or a negative number where it did not end in 0.
double run_once(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  ::posix_spawn_file_actions_init(&streams);
  for (const int descriptor : {0, 1, 2})
    ::posix_spawn_file_actions_addopen(&streams, descriptor, "/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY, 0);
  const auto begun = steady::now();
  pid_t child = 0;
  int status = -1;
  const bool runs = ::posix_spawnp(&child, argv[0], &streams, nullptr, argv.data(), environ) == 0;
  ::posix_spawn_file_actions_destroy(&streams);
  if (!runs || ::waitpid(child, &status, 0) != child || status != 0) return -1;
  return milliseconds_since(begun);
}

/// False if a run did not end as it should.
bool whole_job(std::size_t count, int rounds) {
  const std::vector<std::string> plain = {"mpirun.openmpi",
                                          "--oversubscribe",
                                          "-n",
                                          std::to_string(count),
                                          "lmp",
                                          "-var",
                                          "steps",
                                          "4000",
                                          "-in",
                                          MPIACQ_MELT,
                                          "-log",
                                          "none"};
  // A short --hang, so that there are many looks: one a second.
  std::vector<std::string> watched = {MPIACQ_COMMAND, "watch", "--hang", "10", "--"};
  watched.insert(watched.end(), plain.begin(), plain.end());
  std::vector<double> own, floor;
  for (int round = -1; round < rounds; ++round) {
    const double without = run_once(plain), with = run_once(watched);
    if (without < 0 || with < 0) {
      fmt::print(stderr, "watch_bench: LAMMPS did not run to a good end\n");
      return false;
    }
    // The first round only warms the caches.
    if (round < 0) continue;
    floor.push_back(without);
    own.push_back(with);
  }
  measurement("watch, LAMMPS", count, "ranks").ours(own).floor("the same job without a watch", floor).print();
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int rounds = 7;
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  ::setenv("OMPI_MPIR_DO_NOT_WARN", "1", 1);
  for (const std::size_t ranks : sizes(argc, argv, {4, 64})) one_look(ranks);
  return whole_job(2, rounds) ? 0 : 1;
}
