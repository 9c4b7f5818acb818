// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What holding and releasing many processes at once costs, against a bare loop of the same ptrace calls: SEIZE all,
// INTERRUPT all, waitpid all, DETACH all. Both in turn in one run, ratios of pairs.
//   hold_bench [PROCESSES] [ROUNDS] [THREADS]
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpiacq/node_ranks.hpp"
#include "paired_runs.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

constexpr unsigned long options_of_ours = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;

[[noreturn]] void sleep_for_ever(int threads, int tell) {
  std::vector<pid_t> all{::getpid()};
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) {
    int told[2];
    if (::pipe(told) != 0) ::_exit(1);
    others.emplace_back([end = told[1]] {
      const pid_t id = ::gettid();
      if (::write(end, &id, sizeof id) != sizeof id) ::_exit(1);
      while (true) ::pause();
    });
    pid_t id = 0;
    if (::read(told[0], &id, sizeof id) != sizeof id) ::_exit(1);
    all.push_back(id);
    ::close(told[0]);
    ::close(told[1]);
  }
  const auto bytes = static_cast<ssize_t>(all.size() * sizeof(pid_t));
  if (::write(tell, all.data(), all.size() * sizeof(pid_t)) != bytes) ::_exit(1);
  while (true) ::pause();
}

/// Sleeping processes that are not our children, as a job's are not: the threads of each, its first thread in front.
class crowd {
 public:
  crowd(int count, int threads) {
    int told[2];
    if (::pipe(told) != 0) std::abort();
    keeper_ = ::fork();
    if (keeper_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (int i = 0; i < count; ++i) {
        if (::fork() != 0) continue;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        sleep_for_ever(threads, told[1]);
      }
      while (true) ::pause();
    }
    for (int i = 0; i < count * threads; ++i) {
      pid_t id = 0;
      if (::read(told[0], &id, sizeof id) != sizeof id) std::abort();
      if (i % threads == 0) leaders_.emplace_back(id);
      tasks_.push_back(id);
    }
    ::close(told[0]);
    ::close(told[1]);
  }
  ~crowd() {
    ::kill(keeper_, SIGKILL);
    ::waitpid(keeper_, nullptr, 0);
  }
  crowd(const crowd&) = delete;
  crowd& operator=(const crowd&) = delete;
  [[nodiscard]] const std::vector<pid_t>& tasks() const { return tasks_; }
  [[nodiscard]] const std::vector<process_id>& leaders() const { return leaders_; }

 private:
  pid_t keeper_ = 0;
  std::vector<pid_t> tasks_;
  std::vector<process_id> leaders_;
};

struct times {
  double hold = 0, release = 0;
  [[nodiscard]] double both() const { return hold + release; }
};

template <class Hold, class Release>
times measure(Hold hold, Release release) {
  using milliseconds = std::chrono::duration<double, std::milli>;
  const auto begun = std::chrono::steady_clock::now();
  hold();
  const auto held = std::chrono::steady_clock::now();
  release();
  return {milliseconds(held - begun).count(), milliseconds(std::chrono::steady_clock::now() - held).count()};
}

/// /proc/PID/stat, field 22; the name in it has no blank.
std::uint64_t start_time_of(process_id id) {
  std::ifstream stat(fmt::format("/proc/{}/stat", id.value()));
  std::string field;
  for (int i = 0; i < 22; ++i) stat >> field;
  return std::stoull(field);
}

void must(bool done, const char* what) {
  if (done) return;
  fmt::print(stderr, "hold_bench: {} failed\n", what);
  std::exit(1);
}

times bare(const std::vector<pid_t>& tasks) {
  const auto hold = [&] {
    for (const pid_t task : tasks) must(::ptrace(PTRACE_SEIZE, task, 0, options_of_ours) == 0, "PTRACE_SEIZE");
    for (const pid_t task : tasks) must(::ptrace(PTRACE_INTERRUPT, task, 0, 0) == 0, "PTRACE_INTERRUPT");
    int status = 0;
    for (const pid_t task : tasks) must(::waitpid(task, &status, __WALL) == task, "waitpid");
  };
  const auto release = [&] {
    for (const pid_t task : tasks) must(::ptrace(PTRACE_DETACH, task, 0, 0) == 0, "PTRACE_DETACH");
  };
  return measure(hold, release);
}

std::vector<double> sums(const std::vector<times>& all) {
  std::vector<double> both;
  for (const times& t : all) both.push_back(t.both());
  return both;
}

void print(const char* what, const std::vector<times>& all, const std::vector<times>& floor, int processes) {
  std::vector<double> hold, release;
  for (const times& t : all) {
    hold.push_back(t.hold);
    release.push_back(t.release);
  }
  const quartiles both = quartiles_of(sums(all));
  const quartiles ratio = ratio_of_pairs(sums(all), sums(floor));
  fmt::print(
      "{:<24} {:>8.2f} ms ({:.2f} - {:.2f}), {:.2f} us a process; hold {:.2f}, release {:.2f}; ratio {:.3f} "
      "({:.3f} - {:.3f})\n",
      what, both.median, both.low, both.high, both.median * 1000 / processes, quartiles_of(hold).median,
      quartiles_of(release).median, ratio.median, ratio.low, ratio.high);
}

}  // namespace

int main(int argc, char** argv) {
  const int processes = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 41;
  const int threads = argc > 3 ? std::atoi(argv[3]) : 1;
  const crowd sleepers(processes, threads);
  auto control = tracer::create();
  must(control.has_value(), "the tracing process");
  std::vector<attach_target> targets;
  for (const process_id id : sleepers.leaders()) targets.push_back({id, start_time_of(id)});
  const auto fine = [](const std::vector<result<void>>& all) {
    return std::all_of(all.begin(), all.end(), [](const result<void>& r) { return r.has_value(); });
  };
  const auto by_tracer = [&] {
    return measure([&] { must(fine((*control)->attach_all(targets)), "attach_all"); },
                   [&] { must(fine((*control)->detach_all(sleepers.leaders())), "detach_all"); });
  };
  auto ranks = node_ranks::of_processes(sleepers.leaders());
  must(ranks.has_value(), "node_ranks");
  const auto by_node = [&] {
    return measure([&] { must((*ranks)->hold().size() == targets.size(), "hold"); },
                   [&] { must(fine((*ranks)->release()), "release"); });
  };
  const times first = by_tracer();
  static_cast<void>(by_node());
  static_cast<void>(bare(sleepers.tasks()));
  std::vector<times> bare_times, tracer_times, node_times;
  for (int round = 0; round < rounds; ++round) {
    bare_times.push_back(bare(sleepers.tasks()));
    tracer_times.push_back(by_tracer());
    node_times.push_back(by_node());
  }
  fmt::print("{} processes of {} threads, {} rounds in turn\n", processes, threads, rounds);
  print("bare loop", bare_times, bare_times, processes);
  print("attach_all, detach_all", tracer_times, bare_times, processes);
  print("node_ranks", node_times, bare_times, processes);
  fmt::print("the first attach_all and detach_all, when nothing is known of the processes: {:.2f} ms\n", first.both());
}
