// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What attaching to a starter of many threads, and letting it go, costs beside the ptrace calls alone.
//   attach_bench [THREADS...]
#include <csignal>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_sizes.hpp"
#include "floor/bare_hold.hpp"
#include "in_turn.hpp"
#include "measurement.hpp"
#include "mpiacq/process/tracer.hpp"
#include "peak_memory.hpp"
#include "system_calls.hpp"

using namespace mpiacq;
using namespace mpiacq::bench;

namespace {

/// A process of threads that sleep.
class sleeper {
 public:
  explicit sleeper(std::size_t threads) {
    int told[2];
    must_be(::pipe(told) == 0, "pipe");
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const auto sleep = [&] {
        const pid_t id = ::gettid();
        if (::write(told[1], &id, sizeof id) != sizeof id) ::_exit(1);
        while (true) ::pause();
      };
      for (std::size_t i = 1; i < threads; ++i) std::thread(sleep).detach();
      sleep();
    }
    for (std::size_t i = 0; i < threads; ++i) {
      pid_t id = 0;
      must_be(::read(told[0], &id, sizeof id) == sizeof id, "starting the threads");
      threads_.push_back(id);
    }
    ::close(told[0]);
    ::close(told[1]);
  }
  ~sleeper() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  sleeper(const sleeper&) = delete;
  sleeper& operator=(const sleeper&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::vector<pid_t>& threads() const { return threads_; }

 private:
  pid_t pid_ = -1;
  std::vector<pid_t> threads_;
};

void measure(std::size_t threads) {
  const sleeper starter(threads);
  const system_call_counter counter;  // before the tracing process, which it is to count as well
  const process_id id{starter.pid()};
  std::unique_ptr<tracer> control;
  const auto attach_and_detach = [&] {
    must_be(control->attach(id).has_value(), "attach");
    must_be(control->detach(id).has_value(), "detach");
  };
  std::uint64_t peak = peak_growth([&] {
    auto made = tracer::create();
    must_be(made.has_value(), "the tracing process");
    control = std::move(*made);
    attach_and_detach();
  });
  peak += peak_of_children(::getpid(), "tracer");
  const auto bare = [&] {
    bare_hold(starter.threads());
    bare_release(starter.threads());
  };
  bare();
  const auto calls = counter.of(attach_and_detach), floor_calls = counter.of(bare);
  const auto [floor, ours] = in_turn({}, bare, attach_and_detach);
  std::vector<double> gdb;
  constexpr int rival_rounds = 3;
  const std::string command = fmt::format("gdb -q -nx -batch -p {} >/dev/null 2>&1", starter.pid());
  for (int round = 0; round < rival_rounds; ++round) {
    gdb.push_back(milliseconds_of([&] { (void)std::system(command.c_str()); }));
  }
  measurement("attach and detach", threads, "threads")
      .ours(ours)
      .floor("SEIZE, INTERRUPT, waitpid and DETACH, each for all threads in turn", floor)
      .rival("gdb -batch -p, from its start to its end", gdb)
      .calls(calls, floor_calls)
      .memory(peak, 0)
      .print();
}

}  // namespace

int main(int argc, char** argv) {
  for (const std::size_t threads : sizes(argc, argv, {1, 10, 100, 1000})) measure(threads);
}
