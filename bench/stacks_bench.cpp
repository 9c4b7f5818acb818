// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The stacks of many ranks of one program: by the library, by eu-stack on each, by gdb on each; in turn, in one run.
// Then what sampling costs a job.
//   stacks_bench [RANKS...]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "bench_sizes.hpp"
#include "floor/bare_stacks.hpp"
#include "in_turn.hpp"
#include "job_of_copies.hpp"
#include "measurement.hpp"
#include "mpiacq/ranks/call_tree.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "peak_memory.hpp"
#include "system_calls.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

// They take so long for each that only some are asked; the time is scaled to all.
constexpr std::size_t ranks_for_eu_stack = 32;
constexpr std::size_t ranks_for_gdb = 2;
constexpr int rounds_of_rival = 3;
constexpr std::size_t bytes_of_a_stack = 65536;  // as the library copies at first
constexpr int frames_expected = 22;              // solve 21 times, and what waits

/// All that a tool does that is started for this one question, its tracing process included.
void ours(const job_of_copies& job) {
  auto ranks = rank_group::of_processes(job.pids());
  if (!ranks) std::abort();
  const group_stacks seen = ranks->stacks();
  const std::size_t count = job.pids().size();
  // The copies stand in the same calls: one path holds all of them, and it is as deep as each one's stack.
  if (seen.taken.count() != count || seen.tree[call_tree::root].ranks.count() != count) std::abort();
  if (seen.tree.size() <= frames_expected) std::abort();
}

bool runs(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

void each(const job_of_copies& job, std::size_t count, const std::string& command) {
  for (std::size_t i = 0; i < count; ++i) (void)runs(command + std::to_string(job.pids()[i].value()));
}

/// Whether the arguments of all ranks are known: without an MPI, the ranks are in no call.
bool has_arguments(const group_stacks& seen) {
  return std::all_of(seen.calls.begin(), seen.calls.end(),
                     [](const rank_mpi_call& one) { return !one.doing.arguments.empty(); });
}

constexpr auto floor_is = "hold, registers, 64 KiB of each stack, release; nothing is made of them";

/// What the rivals take, for all ranks that were asked and for how many of them they were.
struct rival_times {
  std::vector<double> eu_stack;
  double part = 1;
  void add_to(measurement& row) const {
    if (eu_stack.empty()) return;
    row.rival(fmt::format("eu-stack -i -s on each of {} at most, scaled", ranks_for_eu_stack), eu_stack, part);
  }
};

rival_times compare(const job_of_copies& job) {
  const std::size_t count = job.pids().size();
  const std::size_t for_eu_stack = std::min(ranks_for_eu_stack, count), for_gdb = std::min(ranks_for_gdb, count);
  const bool have_eu_stack = runs("command -v eu-stack"), have_gdb = runs("command -v gdb");
  std::vector<pid_t> numbers;
  for (const process_id pid : job.pids()) numbers.push_back(static_cast<pid_t>(pid.value()));
  std::vector<char> buffer(bytes_of_a_stack, 'x');
  const system_call_counter counter;  // before the tracing processes, which it is to count as well
  auto kept = rank_group::of_processes(job.pids());
  must_be(kept.has_value(), "rank_group");
  (void)kept->stacks();
  const auto bare = [&] { bare_stacks(numbers, buffer); };
  const std::uint64_t of_tracer = peak_of_children(::getpid(), "tracer");  // of the same that each look makes
  const std::uint64_t peak = peak_growth([&] { ours(job); }) + of_tracer;
  const std::uint64_t peak_again = peak_growth([&] { (void)kept->stacks(); }) + of_tracer;
  const auto calls = counter.of([&] { ours(job); }), calls_again = counter.of([&] { (void)kept->stacks(); });
  const auto floor_calls = counter.of(bare);
  stack_options with;
  with.arguments = true;
  const bool in_calls = has_arguments(kept->stacks(with));
  const auto [floor, own, again, arguments] = in_turn(
      {7, 41, 5000}, bare, [&] { ours(job); }, [&] { (void)kept->stacks(); }, [&] { (void)kept->stacks(with); });
  rival_times rival{{}, static_cast<double>(for_eu_stack) / static_cast<double>(count)};
  // As we do: with inlined functions and source lines.
  for (int round = 0; have_eu_stack && round < rounds_of_rival; ++round) {
    rival.eu_stack.push_back(milliseconds_of([&] { each(job, for_eu_stack, "eu-stack -i -s -p "); }));
  }
  std::vector<double> gdb;
  if (have_gdb) gdb.push_back(milliseconds_of([&] { each(job, for_gdb, "gdb -nx -batch -ex bt -p "); }));
  measurement row("stacks", count, "ranks");
  row.ours(own).floor(floor_is, floor).memory(peak, 0).calls(calls, floor_calls);
  measurement row_again("stacks, once more", count, "ranks");
  row_again.ours(again).floor(floor_is, floor).memory(peak_again, 0).calls(calls_again, floor_calls);
  rival.add_to(row);
  rival.add_to(row_again);
  if (have_gdb)
    row.figure("gdb_bt_on_each_ms", gdb.front() * static_cast<double>(count) / static_cast<double>(for_gdb));
  row.print();
  row_again.print();
  if (in_calls) {
    const double more = median_of(arguments) - median_of(again);
    measurement row_arguments("stacks with arguments, once more", count, "ranks");
    row_arguments.ours(arguments)
        .floor(floor_is, floor)
        .figure("more_us_each", 1000 * more / static_cast<double>(count));
    row_arguments.print();
  }
  return rival;
}

/// For how long a job stands still for each of many samples: as against the same calls alone, each time right behind
/// ours. Nobody else takes samples of many ranks; one round of eu-stack stands for it.
void sample(const job_of_copies& job, std::size_t count, const rival_times& rival) {
  constexpr double rate = 100, seconds = 3;
  const system_call_counter counter;
  auto ranks = rank_group::of_processes(std::span(job.pids()).first(count));
  if (!ranks) std::abort();
  (void)ranks->stacks();  // what is read once for all samples
  std::vector<pid_t> numbers;
  for (const process_id pid : job.pids()) numbers.push_back(static_cast<pid_t>(pid.value()));
  std::vector<char> buffer(bytes_of_a_stack, 'x');
  const auto bare = [&] { bare_stacks(numbers, buffer); };
  const auto look = [&] { (void)ranks->stacks(); };
  const std::uint64_t peak = peak_growth(look) + peak_of_children(::getpid(), "tracer");
  const auto calls = counter.of(look), floor_calls = counter.of(bare);
  std::vector<double> held, floor;
  double of_floor = 0;
  const auto begin = clock::now();
  int taken = 0;
  for (; taken < static_cast<int>(rate * seconds); ++taken) {
    const std::chrono::duration<double> since(taken / rate);
    std::this_thread::sleep_until(begin + std::chrono::duration_cast<clock::duration>(since));
    held.push_back(std::chrono::duration<double, std::milli>(ranks->stacks().held_for).count());
    floor.push_back(milliseconds_of(bare));
    of_floor += floor.back();
  }
  const double took = std::chrono::duration<double, std::milli>(clock::now() - begin).count();
  const double all = std::accumulate(held.begin(), held.end(), 0.0);
  measurement row("sampling at 100 Hz", count, "ranks");
  row.ours(held).floor(floor_is, floor).memory(peak, 0).calls(calls, floor_calls);
  rival.add_to(row);
  row.figure("stopped_percent", 100 * all / (took - of_floor)).figure("hertz_reached", 1000 * taken / took).print();
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::size_t ranks : sizes(argc, argv, {4, 16, 64, 1000})) {
    const job_of_copies job(MPIACQ_DEEP_RANK, static_cast<int>(ranks));
    const rival_times rival = compare(job);
    if (ranks <= 64) sample(job, ranks, rival);
  }
}
