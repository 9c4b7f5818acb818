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
#include "room_for_agents.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

constexpr std::uint32_t fan_out = 32;
constexpr std::uint32_t ranks_of_a_node = 1024, most_ranks = 1U << 20U;
constexpr int rounds = 9, rounds_of_thousands = 5;
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

/// What the front end has more than before while it is answered, its connections included, and without what it keeps
/// of the ranks until their agents have been heard.
std::uint64_t peak_of_question(running_agents& agents, std::uint64_t before) {
  ::malloc_trim(0);
  return peak_above(before, [&] { (void)agents.ask(); });
}

/// Tree and floor in turn; then the flat one, since all agents of both do not fit at once.
void compare(const char* work, const made_up_job& job, std::uint64_t size, const char* unit,
             const std::string& folder) {
  std::vector<double> own, floor, flat, own_processor, flat_processor;
  measurement row(work, size, unit);
  made_up_job at_one_place = job;
  at_one_place.ranks_each = job.ranks();
  at_one_place.agents = 1;
  const int times = job.agents < 2048 ? rounds : rounds_of_thousands;
  {
    const std::uint64_t before = resident_now();
    running_agents tree(job, fan_out, folder);
    row.figure("first_answer_ms", tree.ask()).memory(peak_of_question(tree, before), 0);
    running_agents one(at_one_place, fan_out, folder);
    (void)one.ask();
    for (int round = 0; round < times; ++round) {
      floor.push_back(one.ask());
      own.push_back(tree.ask());
      own_processor.push_back(tree.question_processor_ms());
    }
    row.figure("come_ms", tree.come_ms()).figure("come_processor_ms", tree.come_processor_ms());
    row.figure("processor_ms", median_of(own_processor)).figure("asked_again", tree.asked_again());
    row.figure("bytes_at_front_end", static_cast<double>(tree.bytes()));
    row.figure("floor_bytes", static_cast<double>(one.bytes())).figure("resident_kb_each", tree.resident_kb_each());
    row.figure("direct_agents", static_cast<double>(tree.direct())).figure("idle_us_each", tree.idle_us_each());
  }
  ::malloc_trim(0);
  {
    const std::uint64_t before = resident_now();
    running_agents all(job, job.agents, folder);
    (void)all.ask();
    row.figure("flat_peak_bytes", static_cast<double>(peak_of_question(all, before)));
    for (int round = 0; round < times; ++round) {
      flat.push_back(all.ask());
      flat_processor.push_back(all.question_processor_ms());
    }
    row.figure("flat_come_ms", all.come_ms()).figure("flat_come_processor_ms", all.come_processor_ms());
    row.figure("flat_processor_ms", median_of(flat_processor)).figure("flat_asked_again", all.asked_again());
    row.figure("flat_bytes", static_cast<double>(all.bytes())).figure("ranks", job.ranks());
  }
  row.ours(own).floor(floor_is, floor).rival(rival_is, flat).print();
}

/// In a process of its own, whose memory nothing has been in before: a run that fails fails there.
void compare_apart(const char* work, const made_up_job& job, std::uint64_t size, const char* unit,
                   const std::string& folder) {
  if (const std::string why = why_no_room(job.agents); !why.empty()) {
    std::fprintf(stderr, "%u agents: %s\n", job.agents, why.c_str());
    return;
  }
  const pid_t child = ::fork();
  if (child == 0) {
    compare(work, job, size, unit, folder);
    ::_exit(0);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) std::exit(1);
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
  const auto given = sizes(argc, argv, {});
  // What differs grows: each in a place of its own, up to every 16th rank of a job of 262,144.
  for (const std::uint32_t places : {256U, 4096U, 16384U}) {
    if (given.empty())
      compare_apart("agents, stacks that differ", {256, ranks_of_a_node, places}, places, "places", folder.path);
  }
  for (const std::size_t agents : given.empty() ? std::vector<std::size_t>{64, 256, 1024, 4096} : given) {
    const auto nodes = static_cast<std::uint32_t>(agents);
    const made_up_job job{nodes, std::min(ranks_of_a_node, most_ranks / nodes), 0};
    compare_apart("agents, stacks", job, agents, "agents", folder.path);
  }
}
