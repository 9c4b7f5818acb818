// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What happens to a process in the middle of an attach: it is killed, execs, forks.
#include <thread>

#include "breakpoint_registers.hpp"
#include "bystander.hpp"
#include "kernel/ptrace_call.hpp"
#include "kernel/waiter.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// Takes events until the process has ended.
exit_status await_end(tracer& t, process_id id) {
  while (true) {
    const process_event event = next_event(t);
    if (event.process != id) continue;
    if (const auto* end = std::get_if<process_ended>(&event.what)) return end->status;
    static_cast<void>(t.resume(id));
  }
}

bool has_gone(pid_t process) {
  const auto all = threads_in_proc(process);
  return std::all_of(all.begin(), all.end(), [](pid_t task) { return state_of(task) == 'Z' || state_of(task) == 0; });
}

}  // namespace

TEST_CASE(
    "a process that is killed at any moment of an attach makes it fail, or is held and then reported to have ended") {
  const auto t = new_tracer();
  int refused = 0;
  int held = 0;
  const auto attach_to_one_killed_after = [&](std::chrono::microseconds delay) {
    bystander program("restless", {"20"});
    program.ready();
    std::atomic<bool> go{false};
    std::thread killer([&] {
      while (!go) {
      }
      const auto until = clock::now() + delay;
      while (clock::now() < until) {
      }
      ::kill(program.pid(), SIGKILL);
    });
    go = true;
    const auto attached = t->attach(program.id());
    if (attached) {
      ++held;
      static_cast<void>(t->resume(program.id()));
      CHECK(await_end(*t, program.id()) == exit_status{true, SIGKILL, false});
    } else {
      ++refused;
      INFO(attached.error().message);
      // Killed before we came, its number is nobody's.
      const bool never_seen = attached.error().code == error_code::not_found;
      CHECK((never_seen || attached.error().code == error_code::process_gone));
      CHECK_FALSE(t->wait(clock::now())->has_value());
    }
    killer.join();
    CHECK(program.end() == exit_status{true, SIGKILL, false});
  };
  // How long an attach takes is the machine's: the sweep goes on, in growing steps, until as many were held as it
  // takes to see what a kill does to one that has just been held.
  auto delay = 0us;
  for (int round = 0; round < 100 || (held < 20 && delay < 10s); ++round) {
    attach_to_one_killed_after(delay);
    delay += round < 100 ? 10us : delay / 8;
  }
  CHECK(refused > 0);
  CHECK(held > 0);
}

TEST_CASE("looking for a task's end leaves a stop of that task to be reported") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    while (true) ::pause();
  }
  const tracing::kernel_ptrace_calls calls;
  ok(calls.seize(child, 0));
  CHECK_FALSE(tracing::waiter::take_end_of(child));
  ok(calls.interrupt(child));
  REQUIRE(comes_to(child, 't'));
  CHECK_FALSE(tracing::waiter::take_end_of(child));
  const auto stop = tracing::waiter::next_of(child);
  REQUIRE(stop.has_value());
  CHECK(std::holds_alternative<tracing::trap_stop>(stop->status));
  ::kill(child, SIGKILL);
  REQUIRE(comes_to(child, 'Z'));
  CHECK(tracing::waiter::take_end_of(child));
  CHECK_FALSE(tracing::waiter::next_of(child).has_value());
  CHECK_FALSE(tracing::waiter::take_end_of(child));
}

TEST_CASE("a process whose threads exec over and over is attached to and detached from in between") {
  const auto t = new_tracer();
  bystander program("exec_storm", {"300"});
  int held = 0;
  while (true) {
    const auto attached = t->attach(program.id());
    if (!attached) {
      INFO(attached.error().message);
      // Its parent may have waited for it already.
      const bool waited_for = attached.error().code == error_code::not_found;
      REQUIRE((waited_for || attached.error().code == error_code::process_gone));
      CHECK(has_gone(program.pid()));
      break;
    }
    ++held;
    INFO(states_of(program.pid()));
    CHECK(all_held(program.pid()));
    if (held % 2 == 0) {
      ok(t->resume(program.id()));
      const auto told = t->wait(clock::now() + 2ms);
      ok(told);
      if (*told && std::holds_alternative<process_ended>((*told)->what)) break;
    }
    const auto detached = t->detach(program.id());
    if (!detached) {
      INFO(detached.error().message);
      REQUIRE(detached.error().code == error_code::process_gone);
      break;
    }
    while (t->wait(clock::now())->has_value()) continue;
  }
  CHECK(held > 0);
  CHECK(program.end() == exit_status{false, 21, false});
  CHECK(program.pipes().rest() == "done\n");
}

TEST_CASE(
    "a process that forks all the time is attached to and detached from, and its children end as they would have") {
  const auto kind = GENERATE(from_range(kinds_here()));
  const auto t = new_tracer();
  bystander program("fork_storm");
  program.ready();
  const target_address marker = address_of("fork_storm", "marker");
  for (int i = 0; i < 100; ++i) {
    ok(t->attach(program.id()));
    CHECK(all_held(program.pid()));
    ok(t->insert_breakpoint(program.id(), marker, kind));
    ok(t->resume(program.id()));
    if (i % 4 == 0) std::this_thread::sleep_for(1ms);
    ok(t->detach(program.id()));
    CHECK_FALSE(t->wait(clock::now())->has_value());
  }
  program.pipes().order('e');
  CHECK(program.end() == exit_status{false, 22, false});
  CHECK(program.pipes().rest() == "wrong 0\n");
}
