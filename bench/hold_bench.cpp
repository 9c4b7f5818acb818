// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What holding and releasing many processes at once costs, against a bare loop of the same ptrace calls: SEIZE all,
// INTERRUPT all, waitpid all, DETACH all. Both in turn in one run, ratios of pairs. And against gdb with an inferior
// for each of some of them.
//   hold_bench [PROCESSES...]
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_sizes.hpp"
#include "floor/bare_hold.hpp"
#include "in_turn.hpp"
#include "measurement.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "peak_memory.hpp"
#include "rival/said_times.hpp"
#include "system_calls.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

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

/// /proc/PID/stat, field 22; the name in it has no blank.
std::uint64_t start_time_of(process_id id) {
  std::ifstream stat(fmt::format("/proc/{}/stat", id.value()));
  std::string field;
  for (int i = 0; i < 22; ++i) stat >> field;
  return std::stoull(field);
}

template <class Ranks>
void must_all(const Ranks& outcomes, std::size_t count, const char* what) {
  const bool fine = std::all_of(outcomes.begin(), outcomes.end(), [](const auto& one) {
    if constexpr (requires { one.state; }) {
      return one.state == hold_state::held;
    } else {
      return one.has_value();
    }
  });
  must_be(fine && outcomes.size() == count, what);
}

/// gdb takes more for each process the more it has: 64 take it two seconds, 250 two minutes.
constexpr std::size_t processes_for_gdb = 64;
constexpr int rival_rounds = 3;

std::vector<double> gdb_all(const crowd& sleepers, std::size_t count) {
  std::string numbers;
  for (std::size_t i = 0; i < count; ++i) numbers += fmt::format("{} ", sleepers.leaders()[i].value());
  std::vector<double> took;
  for (int round = 0; round < rival_rounds; ++round) {
    const auto one = said_times(fmt::format("PIDS='{}' gdb -q -nx -batch -x {} 2>/dev/null", numbers, MPIACQ_GDB_HOLD));
    took.insert(took.end(), one.begin(), one.end());
  }
  return took;
}

void measure(std::size_t processes, int threads) {
  const crowd sleepers(static_cast<int>(processes), threads);
  const system_call_counter counter;  // before the tracing processes, which it is to count as well
  std::vector<attach_target> targets;
  for (const process_id id : sleepers.leaders()) targets.push_back({id, start_time_of(id)});
  std::unique_ptr<rank_group> ranks;
  const auto by_node = [&] {
    must_all(ranks->hold(), processes, "hold");
    must_all(ranks->release(), processes, "release");
  };
  // When nothing is known of the processes it takes longer: once in a session.
  double first = 0;
  std::uint64_t peak = peak_growth([&] {
    auto made = rank_group::of_processes(sleepers.leaders());
    must_be(made.has_value(), "rank_group");
    ranks = std::make_unique<rank_group>(std::move(*made));
    first = milliseconds_of(by_node);
  });
  const std::uint64_t of_node = peak_of_children(::getpid(), "tracer");
  peak += of_node;
  std::unique_ptr<tracer> control;
  const auto by_tracer = [&] {
    must_all(control->attach_all(targets), processes, "attach_all");
    must_all(control->detach_all(sleepers.leaders()), processes, "detach_all");
  };
  std::uint64_t peak_of_tracer = peak_growth([&] {
    auto made = tracer::create();
    must_be(made.has_value(), "the tracing process");
    control = std::move(*made);
    by_tracer();
  });
  peak_of_tracer += peak_of_children(::getpid(), "tracer") - of_node;
  const auto bare = [&] {
    bare_hold(sleepers.tasks());
    bare_release(sleepers.tasks());
  };
  bare();
  const auto calls = counter.of(by_node), calls_of_tracer = counter.of(by_tracer), floor_calls = counter.of(bare);
  const auto [floor, tracer_alone, ours] = in_turn({41, 61, 3000}, bare, by_tracer, by_node);
  const std::size_t part = std::min(processes, processes_for_gdb);
  const auto gdb = gdb_all(sleepers, part);
  const std::string unit = threads == 1 ? "processes" : fmt::format("processes of {} threads", threads);
  const auto row = [&](const char* work, const std::vector<double>& times, std::optional<std::uint64_t> own_calls) {
    measurement one(work, processes, unit);
    one.ours(times).floor("SEIZE, INTERRUPT, waitpid and DETACH, each for all in turn", floor);
    one.calls(own_calls, floor_calls);
    if (!gdb.empty()) {
      one.rival(fmt::format("gdb with an inferior for each of {} at most, without its own start", processes_for_gdb),
                gdb, static_cast<double>(part) / static_cast<double>(processes));
    }
    return one;
  };
  row("hold and release", ours, calls).memory(peak, 0).figure("first_ms", first).print();
  row("hold and release, tracer", tracer_alone, calls_of_tracer).memory(peak_of_tracer, 0).print();
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int threads = 1;
  for (const std::size_t processes : sizes(argc, argv, {16, 64, 256, 1000})) {
    measure(processes, threads);
  }
}
