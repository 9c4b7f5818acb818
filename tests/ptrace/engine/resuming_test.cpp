// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/resuming.hpp"

#include "catch.hpp"
#include "fake_kernel.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::tracing;

namespace {

constexpr target_address resumed_place{0x4000};
using steps = std::vector<std::string>;

struct held_threads {
  held_threads() {
    process.now = phase::held;
    for (const pid_t task : {10, 11, 12}) table.add_thread(process, task).state = thread_state::stopped;
  }

  fake_kernel kernel;
  tracee_table table;
  event_probe events;
  tracer_options options;
  guard_link guard{-1};
  breakpoints armed{kernel.access(), table, events.queue};
  resuming part{kernel.calls, armed, guard, options};
  traced_process& process = table.make(10);
};

}  // namespace

TEST_CASE("all threads go on, each with its signal, which is delivered once") {
  held_threads held;
  held.process.threads[11].signal = SIGUSR1;
  held.part.run(held.process);
  CHECK(held.kernel.calls.done() == steps{"continue 10", "continue 11 with 10", "continue 12"});
  CHECK(held.process.now == phase::running);
  CHECK(held.process.threads[11].signal == 0);
}

TEST_CASE("threads that stand on a trap step off it one after the other, and then all run") {
  held_threads held;
  REQUIRE(held.armed.insert(held.process, resumed_place, breakpoint_kind::software, &breakpoint::for_user).has_value());
  for (const pid_t task : {10, 12}) held.process.threads[task].standing_on = resumed_place;
  for (const pid_t task : {10, 12}) {
    if (task == 10) held.part.run(held.process);
    CHECK(held.kernel.calls.done() == steps{"step " + std::to_string(task)});
    CHECK(held.process.now == phase::stepping);
    CHECK_FALSE(held.kernel.memory.has_trap(10, resumed_place));
    traced_thread& stepped = held.process.threads[task];
    stepped.state = thread_state::stopped;
    stepped.stepping = false;
    stepped.standing_on.reset();
    CHECK(held.part.step_next(held.process) == (task == 10));
  }
  held.part.arm_and_run(held.process);
  CHECK(held.kernel.calls.done() == steps{"continue 10", "continue 11", "continue 12"});
  CHECK(held.kernel.memory.has_trap(10, resumed_place));
}

TEST_CASE("a thread in a group stop listens while its process runs") {
  held_threads held;
  held.process.threads[11].group_stop = SIGSTOP;
  held.part.run(held.process);
  CHECK(held.kernel.calls.done() == steps{"continue 10", "listen 11", "continue 12"});
  CHECK(held.process.threads[11].state == thread_state::listening);
}

TEST_CASE("a thread whose last stop was not the group stop's is sent to report that one") {
  held_threads held;
  held.process.threads[11].group_stop = SIGSTOP;
  held.kernel.calls.refusals[PTRACE_LISTEN] = EIO;
  held.part.run(held.process);
  CHECK(held.kernel.calls.done() == steps{"continue 10", "interrupt 11", "continue 11", "continue 12"});
  CHECK(held.process.threads[11].state == thread_state::running);
}

TEST_CASE("a step that takes too long is interrupted") {
  held_threads held;
  REQUIRE(held.armed.insert(held.process, resumed_place, breakpoint_kind::software, &breakpoint::for_user).has_value());
  held.process.threads[11].standing_on = resumed_place;
  held.part.run(held.process);
  CHECK(held.process.give_up != no_deadline);
  CHECK(held.kernel.calls.done() == steps{"step 11"});
  held.part.interrupt_step(held.process);
  CHECK(held.kernel.calls.done() == steps{"interrupt 11"});
}
