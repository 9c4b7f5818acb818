// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "proc/time_to_run.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>

#include <sched.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.hpp"
#include "proc/proc_text.hpp"

using namespace mpiacq;
using namespace std::chrono_literals;

namespace {

/// Binds the process that calls this to the first processor that it may use.
void use_one_processor() {
  cpu_set_t allowed, one;
  CPU_ZERO(&allowed);
  CPU_ZERO(&one);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (std::size_t number = 0; number < CPU_SETSIZE; ++number) {
    if (!CPU_ISSET(number, &allowed)) continue;
    CPU_SET(number, &one);
    (void)::sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

/// A child that does one thing for ever. It is killed and waited for at the end of the test.
class child {
 public:
  enum class kind { sleeps, computes, computes_when_nobody_else_does };
  explicit child(kind what) : pid_(::fork()) {
    if (pid_ != 0) return;
    if (what == kind::sleeps) {
      for (;;) ::pause();
    }
    use_one_processor();
    const sched_param none{};
    if (what == kind::computes_when_nobody_else_does) (void)::sched_setscheduler(0, SCHED_IDLE, &none);
    for (volatile bool forever = true; forever;) continue;
    ::_exit(1);
  }
  ~child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] process_id id() const { return process_id{pid_}; }

 private:
  pid_t pid_;
};

}  // namespace

TEST_CASE("a process that has used a processor for the time, or sleeps, has run") {
  const child computes{child::kind::computes}, sleeps{child::kind::sleeps};
  const std::array both = {computes.id(), sleeps.id()};
  CHECK(have_run(both, 1ms, 60s) == std::vector{true, true});
}

TEST_CASE("a process has not run if others use its processor, or a tracer holds it") {
  const child others{child::kind::computes}, starves{child::kind::computes_when_nobody_else_does};
  const std::array one = {starves.id()};
  const auto begin = clock::now();
  // It gets some thousandths of its processor, and would get half of it at the usual priority.
  CHECK(have_run(one, 50ms, 300ms) == std::vector{false});
  CHECK(clock::now() - begin >= 300ms);

  const child held{child::kind::sleeps};
  REQUIRE(::ptrace(PTRACE_SEIZE, held.pid(), nullptr, nullptr) == 0);
  REQUIRE(::ptrace(PTRACE_INTERRUPT, held.pid(), nullptr, nullptr) == 0);
  int status = 0;
  REQUIRE(::waitpid(held.pid(), &status, __WALL) == held.pid());
  const std::array that = {held.id()};
  CHECK(have_run(that, 1ms, 50ms) == std::vector{false});
  REQUIRE(::ptrace(PTRACE_DETACH, held.pid(), nullptr, nullptr) == 0);
  CHECK(have_run(that, 1ms, 60s) == std::vector{true});
}

TEST_CASE("a process that has ended is not waited for") {
  process_id gone;
  {
    const child ends{child::kind::sleeps};
    gone = ends.id();
  }
  const std::array one = {gone};
  CHECK(have_run(one, 1ms, 60s) == std::vector{true});
  CHECK(have_run({}, 1ms, 60s).empty());
}

TEST_CASE("the time on processors is the first number of /proc/PID/schedstat") {
  CHECK(parse_schedstat("123456789 4567 12\n") == 123456789U);
  CHECK(parse_schedstat("0 0 0\n") == 0U);
  for (const char* wrong : {"", "12", "x 1 2", " 1 2 3", "-1 2 3", "99999999999999999999 1 2"}) {
    INFO(wrong);
    CHECK_FALSE(parse_schedstat(wrong).has_value());
  }
}
