// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Samples all ranks of a running job on this node, writes their stacks for flame graph tools, and says what it cost:
//   example_profiler PID [SECONDS [SAMPLES_PER_SECOND]] > job.folded
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include <mpiacq/mpiacq.hpp>

namespace {

int failed(const mpiacq::error& why) {
  return std::fprintf(stderr, "%s\n", why.message.c_str()), 125;
}

std::string name_of(const mpiacq::call_tree::node& frame) {
  if (frame.is_cut()) return "[" + std::string(mpiacq::name(frame.end)) + "]";
  return frame.place->function.empty() ? "[" + frame.place->module_path + "]" : frame.place->function;
}

/// "main;solve;exchange 17" for each different stack. Frames of one function are one, whatever their lines.
std::map<std::string, std::uint64_t> folded(const mpiacq::call_tree& tree) {
  std::map<std::string, std::uint64_t> counts;
  std::map<mpiacq::call_tree::node_number, std::string> paths;
  for (const auto number : tree.in_order()) {
    if (number == mpiacq::call_tree::root) continue;
    const auto& frame = tree[number];
    const std::string& above = paths[frame.parent];
    const std::string path = paths[number] = above.empty() ? name_of(frame) : above + ";" + name_of(frame);
    if (frame.stacks_ending != 0) counts[path] += frame.stacks_ending;
  }
  return counts;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "%s PID [SECONDS [SAMPLES_PER_SECOND]]\n", argv[0]), 125;
  const mpiacq::process_id named{std::atoll(argv[1])};
  const double seconds = argc > 2 ? std::atof(argv[2]) : 5;
  const double rate = argc > 3 ? std::atof(argv[3]) : 100;

  // A profiler only observes the job: it needs nothing of the starter but its ranks, here those of this node.
  const auto job = mpiacq::job::find(named);
  if (!job) return failed(job.error());
  auto ranks = job->ranks({.agents = std::nullopt});
  if (!ranks) return failed(ranks.error());

  mpiacq::call_tree all;
  mpiacq::clock::duration held{};
  std::size_t missed = 0;
  const auto begin = mpiacq::clock::now();
  const auto count = static_cast<std::size_t>(seconds * rate);
  for (std::size_t i = 0; i < count; ++i) {
    const std::chrono::duration<double> since(static_cast<double>(i) / rate);
    std::this_thread::sleep_until(begin + std::chrono::duration_cast<mpiacq::clock::duration>(since));
    const mpiacq::group_stacks seen = ranks->stacks();
    for (const auto& refused : seen.refused) missed += refused.ranks.count();
    all.add_sample(seen.tree);
    held += seen.held_for;
  }
  const std::chrono::duration<double> took = mpiacq::clock::now() - begin;
  const std::chrono::duration<double> stopped = held;

  for (const auto& [stack, times] : folded(all)) {
    std::printf("%s %llu\n", stack.c_str(), static_cast<unsigned long long>(times));
  }
  std::fprintf(stderr,
               "%zu ranks, %zu samples in %.2f s (%zu stacks missed); the ranks were stopped for %.2f %% of it\n",
               ranks->ranks().size(), count, took.count(), missed, 100 * stopped.count() / took.count());
}
