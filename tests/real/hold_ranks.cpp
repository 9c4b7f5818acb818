// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Holds a job's ranks on all its nodes through agents, for a test that stands elsewhere: hold_ranks AGENT STARTER. With
// `--follow` in front of STARTER, it follows the ranks to their ends instead; with `--continue`, it also continues
// those that a signal has stopped. "ready" stands behind the lines of each step. What comes next is a letter of its
// standard input: s looks at the stacks, r lets the ranks go, e waits until a rank has failed. It ends with its input.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <thread>

#include "mpiacq/job/job.hpp"
#include "mpiacq/ranks/rank_group.hpp"

using namespace mpiacq;

namespace {

void hold(rank_group& ranks) {
  for (const rank_hold& rank : ranks.hold()) {
    std::cout << (rank.state == hold_state::held ? "held " : "not held ") << rank.entry.value();
    if (rank.why) std::cout << ": " << rank.why->message;
    std::cout << "\n";
  }
}

void follow(rank_group& ranks, const follow_options& how) {
  for (const rank_hold& rank : ranks.follow_ends(how)) {
    std::cout << (rank.state == hold_state::held ? "followed " : "not followed ") << rank.entry.value();
    if (rank.why) std::cout << ": " << rank.why->message;
    std::cout << "\n";
  }
}

void wait_for_failure(rank_group& ranks) {
  group_ends seen = ranks.ends();
  const deadline until = clock::now() + std::chrono::seconds(60);
  while (seen.failed.empty() && clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    seen = ranks.ends();
  }
  for (const rank_end& end : seen.failed) {
    std::cout << "failed " << end.entry.value() << (end.status.signaled ? " signal " : " status ") << end.status.value
              << "\n";
  }
}

void look(rank_group& ranks) {
  const group_stacks seen = ranks.stacks();
  std::cout << "taken " << seen.taken.text() << "\n";
  for (const refused_ranks& refused : seen.refused)
    std::cout << "refused " << refused.ranks.text() << ": " << refused.why.message << "\n";
}

int complain(const error& why) {
  std::cerr << "hold_ranks: " << why.message << "\n";
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  const bool continues = argc == 4 && std::string_view(argv[2]) == "--continue";
  const bool follows = continues || (argc == 4 && std::string_view(argv[2]) == "--follow");
  if (argc != 3 && !follows) return EXIT_FAILURE;
  const auto job = job::find(process_id{std::atoi(argv[argc - 1])}, {}, clock::now() + std::chrono::seconds(60));
  if (!job) return complain(job.error());
  rank_options options;
  options.agents->program = argv[1];
  options.agents->job_id = job->facts.job_id.value_or("");
  auto ranks = job->ranks(options);
  if (!ranks) return complain(ranks.error());
  follows ? follow(*ranks, {.continue_stopped = continues}) : hold(*ranks);
  std::cout << "ready" << std::endl;
  for (char command = 0; std::cin.get(command);) {
    if (command == 's') look(*ranks);
    if (command == 'e') wait_for_failure(*ranks);
    if (command == 'r') static_cast<void>(ranks->release());
    std::cout << "ready" << std::endl;
  }
  return EXIT_SUCCESS;
}
