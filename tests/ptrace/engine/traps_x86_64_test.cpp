// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The registers of the fake are those of x86-64.
#include <cstddef>

#include <sys/user.h>

#include "catch.hpp"
#include "engine/breakpoints.hpp"
#include "engine/traps.hpp"
#include "fake_kernel.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::tracing;

namespace {

constexpr target_address trap_place{0x4000};
constexpr unsigned long program_counter = offsetof(user_regs_struct, rip);
constexpr unsigned long stack_pointer = offsetof(user_regs_struct, rsp);
constexpr unsigned long debug_control = offsetof(struct user, u_debugreg) + 7 * sizeof(unsigned long);
constexpr unsigned long debug_status = offsetof(struct user, u_debugreg) + 6 * sizeof(unsigned long);

struct trapped_thread {
  trapped_thread() {
    process.now = phase::running;
    table.add_thread(process, 10).state = thread_state::stopped;
    breakpoint b;
    b.address = trap_place;
    b.kind = breakpoint_kind::software;
    b.for_user = true;
    process.breakpoints.all.push_back(b);
  }
  void trap_at(std::uint64_t counter, int code) {
    kernel.calls.user[{10, program_counter}] = counter;
    kernel.calls.signals[10].si_signo = SIGTRAP;
    kernel.calls.signals[10].si_code = code;
  }

  fake_kernel kernel;
  tracee_table table;
  traps part{kernel.calls};
  traced_process& process = table.make(10);
  traced_thread& thread = process.threads[10];
};

}  // namespace

TEST_CASE("a trap instruction of a breakpoint is a hit, and the thread is put back onto it") {
  trapped_thread trapped;
  trapped.trap_at(trap_place.value() + 1, SI_KERNEL);
  trapped.part.on_trap(trapped.process, trapped.thread);
  REQUIRE(trapped.process.hits.size() == 1);
  CHECK(trapped.kernel.calls.user[{10, program_counter}] == trap_place.value());
  CHECK(trapped.thread.standing_on == trap_place);
  CHECK(trapped.thread.signal == 0);
}

TEST_CASE("a trap of the program's own goes to the program") {
  trapped_thread trapped;
  trapped.trap_at(0x7001, SI_KERNEL);
  trapped.part.on_trap(trapped.process, trapped.thread);
  CHECK(trapped.process.hits.empty());
  CHECK(trapped.thread.signal == SIGTRAP);
  CHECK(trapped.kernel.calls.user[{10, program_counter}] == 0x7001);
}

TEST_CASE("a call that a signal's handler has interrupted is one hit, and a call in the handler is another") {
  trapped_thread trapped;
  trapped.kernel.calls.user[{10, stack_pointer}] = 0x9000;
  trapped.thread.left_by_signal = interrupted_call{trap_place, target_address{0x9000}};
  trapped.trap_at(trap_place.value() + 1, SI_KERNEL);
  trapped.part.on_trap(trapped.process, trapped.thread);
  CHECK(trapped.process.hits.empty());
  CHECK(trapped.thread.standing_on == trap_place);
  trapped.thread.left_by_signal = interrupted_call{trap_place, target_address{0x9000}};
  trapped.kernel.calls.user[{10, stack_pointer}] = 0x8000;
  trapped.trap_at(trap_place.value() + 1, SI_KERNEL);
  trapped.part.on_trap(trapped.process, trapped.thread);
  CHECK(trapped.process.hits.size() == 1);
}

TEST_CASE("a hit of a thread that has ended, or of a breakpoint that was taken out, is not reported") {
  trapped_thread trapped;
  trapped.process.hits = {breakpoint_hit{thread_id{99}, trap_place},
                          breakpoint_hit{thread_id{10}, target_address{0x5000}}, watch_hit{thread_id{10}, trap_place},
                          breakpoint_hit{thread_id{10}, trap_place}};
  const auto first = traps::take_hit(trapped.process);
  REQUIRE(first.has_value());
  CHECK(std::get<breakpoint_hit>(*first).address == trap_place);
  CHECK_FALSE(traps::take_hit(trapped.process).has_value());
}

TEST_CASE("a step that ends in a signal's handler has left the breakpoint for a while") {
  trapped_thread trapped;
  trapped.thread.leaving = {trap_place, target_address{0x9000}};
  trapped.trap_at(0x6000, SIGTRAP);
  CHECK(trapped.part.on_trap_in_step(trapped.process, trapped.thread));
  REQUIRE(trapped.thread.left_by_signal.has_value());
  CHECK(trapped.thread.left_by_signal->address == trap_place);
  trapped.kernel.calls.gone.insert(10);
  CHECK_FALSE(trapped.part.on_trap_in_step(trapped.process, trapped.thread));
}

TEST_CASE("a write that a step makes is a hit of its watchpoint") {
  trapped_thread trapped;
  REQUIRE(trapped.process.breakpoints.take_register({trap_place, 0}));
  REQUIRE(trapped.process.breakpoints.take_register({target_address{0x8000}, 8}));
  trapped.trap_at(0x4001, TRAP_TRACE);
  trapped.kernel.calls.user[{10, debug_status}] = 3;
  CHECK(trapped.part.on_trap_in_step(trapped.process, trapped.thread));
  REQUIRE(trapped.process.hits.size() == 1);
  CHECK(std::get<watch_hit>(trapped.process.hits.front()).address == target_address{0x8000});
}

TEST_CASE("the debug registers of a thread are on only while it runs") {
  trapped_thread trapped;
  event_probe events;
  breakpoints armed(trapped.kernel.access(), trapped.table, events.queue);
  REQUIRE(armed.insert(trapped.process, target_address{0x5000}, breakpoint_kind::hardware, &breakpoint::for_user)
              .has_value());
  CHECK(trapped.kernel.calls.user[{10, debug_control}] == 0);
  CHECK(trapped.thread.registers_due);
  armed.arm_registers(trapped.process, trapped.thread);
  CHECK(trapped.kernel.calls.user[{10, debug_control}] == 1);
  armed.disarm(trapped.process);
  CHECK(trapped.kernel.calls.user[{10, debug_control}] == 0);
}
