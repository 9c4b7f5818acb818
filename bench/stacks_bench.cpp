// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The stacks of many ranks of one program: by the library, by eu-stack on each, by gdb on each; in turn, in one run.
// Then what sampling costs a job.
//   stacks_bench [RANKS] [ROUNDS]
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpiacq/call_tree.hpp"
#include "mpiacq/node_ranks.hpp"
#include "paired_runs.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

/// It takes so long for each that only a few are asked; the time is scaled to all.
constexpr std::size_t ranks_for_gdb = 4;
constexpr int frames_expected = 22;  // solve 21 times, and what waits

/// Copies of the program, each waiting at the end of its calls.
class job_of_copies {
 public:
  explicit job_of_copies(int count) {
    int told[2];
    if (::pipe(told) != 0) std::abort();
    for (int i = 0; i < count; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::dup2(told[1], STDOUT_FILENO);
        ::execl(MPIACQ_DEEP_RANK, "deep_rank", nullptr);
        ::_exit(127);
      }
      pids_.emplace_back(child);
    }
    ::close(told[1]);
    for (char byte = 0; count > 0 && ::read(told[0], &byte, 1) == 1; --count) continue;
    ::close(told[0]);
    if (count != 0) std::abort();
  }
  ~job_of_copies() {
    for (const process_id pid : pids_) ::kill(static_cast<pid_t>(pid.value()), SIGKILL);
    while (::wait(nullptr) > 0) continue;
  }
  [[nodiscard]] const std::vector<process_id>& pids() const { return pids_; }

 private:
  std::vector<process_id> pids_;
};

template <class Work>
double seconds_of(Work work) {
  const auto begin = clock::now();
  work();
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// All that a tool does that is started for this one question, its tracing process included.
void ours(const job_of_copies& job) {
  auto ranks = node_ranks::of_processes(job.pids());
  if (!ranks) std::abort();
  call_tree tree;
  for (const rank_stacks& rank : (*ranks)->stacks().ranks) {
    if (!rank.taken || rank.threads.empty() || rank.threads[0].frames.size() < frames_expected) std::abort();
    for (const thread_stack& stack : rank.threads) tree.add(rank.rank, stack);
  }
  if (tree[call_tree::root].ranks.count() != job.pids().size()) std::abort();
}

bool runs(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

void each(const job_of_copies& job, std::size_t count, const std::string& command) {
  for (std::size_t i = 0; i < count; ++i) (void)runs(command + std::to_string(job.pids()[i].value()));
}

void print(const char* name, const std::vector<double>& times, const std::vector<double>& against) {
  const quartiles took = quartiles_of(times);
  fmt::print("{:<28} {:>9.1f} ms", name, 1000 * took.median);
  if (!against.empty()) fmt::print("   {:>7.1f} times ours", ratio_of_pairs(times, against).median);
  fmt::print("\n");
}

void compare(const job_of_copies& job, int rounds) {
  const bool have_eu_stack = runs("command -v eu-stack"), have_gdb = runs("command -v gdb");
  const std::size_t for_gdb = std::min(ranks_for_gdb, job.pids().size());
  std::vector<double> own, eu_stack, gdb;
  for (int round = 0; round < rounds; ++round) {
    own.push_back(seconds_of([&] { ours(job); }));
    if (have_eu_stack) {
      // As we do: with inlined functions and source lines.
      eu_stack.push_back(seconds_of([&] { each(job, job.pids().size(), "eu-stack -i -s -p "); }));
    }
    if (have_gdb) {
      const double scale = static_cast<double>(job.pids().size()) / static_cast<double>(for_gdb);
      gdb.push_back(scale * seconds_of([&] { each(job, for_gdb, "gdb -nx -batch -ex bt -p "); }));
    }
  }
  fmt::print("stacks of {} ranks of one program, {} rounds, medians:\n", job.pids().size(), rounds);
  print("mpiacq, all together", own, {});
  if (have_eu_stack) print("eu-stack -i -s on each", eu_stack, own);
  if (have_gdb) print(fmt::format("gdb on each (of {}, scaled)", for_gdb).c_str(), gdb, own);
  if (!have_eu_stack) fmt::print("eu-stack is not installed (elfutils)\n");
  if (!have_gdb) fmt::print("gdb is not installed\n");
}

void sample(const job_of_copies& job, std::size_t count) {
  constexpr double rate = 100, seconds = 3;
  auto ranks = node_ranks::of_processes(std::span(job.pids()).first(count));
  if (!ranks) std::abort();
  (void)(*ranks)->stacks();  // what is read once for all samples
  clock::duration held{};
  std::vector<double> each_held;
  const auto begin = clock::now();
  int taken = 0;
  for (; taken < static_cast<int>(rate * seconds); ++taken) {
    const std::chrono::duration<double> since(taken / rate);
    std::this_thread::sleep_until(begin + std::chrono::duration_cast<clock::duration>(since));
    const auto held_for = (*ranks)->stacks().held_for;
    held += held_for;
    each_held.push_back(std::chrono::duration<double>(held_for).count());
  }
  const double took = std::chrono::duration<double>(clock::now() - begin).count();
  fmt::print(
      "sampling {:>3} ranks at {:.0f} Hz: stopped for {:.2f} % of the time ({:.0f} us a sample, {:.0f} Hz reached)\n",
      count, rate, 100 * std::chrono::duration<double>(held).count() / took, 1e6 * quartiles_of(each_held).median,
      taken / took);
}

}  // namespace

int main(int argc, char** argv) {
  const int ranks = argc > 1 ? std::atoi(argv[1]) : 64;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  const job_of_copies job(ranks);
  compare(job, rounds);
  for (const std::size_t count : {1U, 4U, 16U, 64U}) {
    if (count <= job.pids().size()) sample(job, count);
  }
}
