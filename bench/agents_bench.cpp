// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The stacks of a large job's ranks by way of agents: in a tree, and with all agents right below the front end. Agents,
// connections, encryption and merging are real, over loopback; only the ranks are made up.
//   agents_bench [AGENTS...]
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <malloc.h>

#include "agent_processes.hpp"
#include "bench_sizes.hpp"
#include "measurement.hpp"
#include "peak_memory.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

constexpr std::uint32_t fan_out = 32;
constexpr std::uint32_t ranks_of_a_node = 1024, most_ranks = 1U << 20U;
/// More than these do not all get their turn in the time after which one that says nothing counts as silent.
constexpr std::size_t agents_of_a_core = 1024;
constexpr int rounds = 9;
constexpr auto floor_is =
    "the same question to one agent that has the whole answer: once over an encrypted connection, nothing to merge";
constexpr auto rival_is = "the same agents without a tree, all of them below the front end";

struct scratch {
  scratch() {
    if (::mkdtemp(path.data()) == nullptr) std::abort();
  }
  ~scratch() { std::filesystem::remove_all(path); }
  std::string path = "/tmp/agents-bench-XXXXXX";
};

/// Tree and floor in turn; then the flat one, since all agents of both do not fit at once.
void compare(const char* work, const made_up_job& job, std::uint64_t size, const char* unit,
             const std::string& folder) {
  std::vector<double> own, floor, flat;
  measurement row(work, size, unit);
  made_up_job at_one_place = job;
  at_one_place.ranks_each = job.ranks();
  at_one_place.agents = 1;
  ::malloc_trim(0);
  {
    std::optional<running_agents> tree;
    const std::uint64_t peak = peak_growth([&] {
      tree.emplace(job, fan_out, folder);
      row.figure("first_answer_ms", tree->ask());
    });
    running_agents one(at_one_place, fan_out, folder);
    (void)one.ask();
    for (int round = 0; round < rounds; ++round) {
      floor.push_back(one.ask());
      own.push_back(tree->ask());
    }
    row.figure("come_ms", tree->come_ms()).figure("bytes_at_front_end", static_cast<double>(tree->bytes()));
    row.figure("floor_bytes", static_cast<double>(one.bytes())).figure("resident_kb_each", tree->resident_kb_each());
    row.figure("asked_again", tree->asked_again())
        .figure("direct_agents", static_cast<double>(tree->direct()))
        .memory(peak, 0);
  }
  ::malloc_trim(0);
  {
    std::optional<running_agents> all;
    const std::uint64_t peak = peak_growth([&] {
      all.emplace(job, job.agents, folder);
      (void)all->ask();
    });
    for (int round = 0; round < rounds; ++round) flat.push_back(all->ask());
    row.figure("flat_come_ms", all->come_ms()).figure("flat_bytes", static_cast<double>(all->bytes()));
    row.figure("flat_asked_again", all->asked_again())
        .figure("flat_peak_bytes", static_cast<double>(peak))
        .figure("ranks", job.ranks());
  }
  row.ours(own).floor(floor_is, floor).rival(rival_is, flat).print();
}

/// A connection of each agent, and some.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv) {
  raise_descriptor_limit();
  if (argc > 7 && argv[1] == agents_here) return be_agents(argc, argv);
  const scratch folder;
  // What differs grows: each in a place of its own, up to every 16th rank of a job of 262,144.
  for (const std::uint32_t places : {256U, 4096U, 16384U})
    compare("agents, stacks that differ", {256, ranks_of_a_node, places}, places, "places", folder.path);
  std::vector<std::size_t> usual = {64, 256};
  for (const std::size_t more : {1024U, 2048U, 4096U}) {
    if (more <= agents_of_a_core * std::thread::hardware_concurrency()) usual.push_back(more);
  }
  for (const std::size_t agents : sizes(argc, argv, usual)) {
    const auto nodes = static_cast<std::uint32_t>(agents);
    const made_up_job job{nodes, std::min(ranks_of_a_node, most_ranks / nodes), 0};
    compare("agents, stacks", job, agents, "agents", folder.path);
  }
}
