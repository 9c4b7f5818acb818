// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "catch.hpp"
#include "engine/breakpoints.hpp"
#include "fake_kernel.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::tracing;

namespace {

constexpr target_address place{0x4000};

struct held_process {
  held_process() {
    process.now = phase::held;
    table.add_thread(process, 10).state = thread_state::stopped;
  }
  result<breakpoint_kind> insert(breakpoint_kind kind, breakpoint_role role = &breakpoint::for_user) {
    return armed.insert(process, place, kind, role);
  }
  void run() {
    process.now = phase::running;
    armed.put_back_software(process);
  }

  fake_kernel kernel;
  tracee_table table;
  event_probe events;
  breakpoints armed{kernel.access(), table, events.queue};
  traced_process& process = table.make(10);
};

}  // namespace

TEST_CASE("breakpoint registers that stop no thread are not used") {
  held_process held;
  held.kernel.calls.registers_work = false;
  const auto refused = held.insert(breakpoint_kind::hardware);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == error_code::unsupported);
  CHECK_THAT(refused.error().message, ContainsSubstring("stop no thread"));
  CHECK(held.insert(breakpoint_kind::automatic) == breakpoint_kind::software);
}

TEST_CASE("a trap is in the code only while its process runs") {
  held_process held;
  REQUIRE(held.insert(breakpoint_kind::software) == breakpoint_kind::software);
  CHECK_FALSE(held.kernel.memory.has_trap(10, place));
  held.run();
  CHECK(held.kernel.memory.has_trap(10, place));
  held.armed.disarm(held.process);
  CHECK_FALSE(held.kernel.memory.has_trap(10, place));
  CHECK_FALSE(held.events.next().has_value());
}

TEST_CASE("a trap that the memory does not take is refused at once") {
  held_process held;
  held.kernel.memory.loses_writes = true;
  const auto inserted = held.insert(breakpoint_kind::software);
  REQUIRE_FALSE(inserted.has_value());
  CHECK(inserted.error().code == error_code::unreadable_memory);
  CHECK(held.process.breakpoints.all.empty());
}

TEST_CASE("a trap that cannot be put back when the process runs is reported") {
  held_process held;
  REQUIRE(held.insert(breakpoint_kind::software).has_value());
  held.kernel.memory.loses_writes = true;
  held.run();
  const auto problem = held.events.next_as<tracing_problem>();
  REQUIRE(problem.has_value());
  CHECK(problem->what.code == error_code::unreadable_memory);
}

TEST_CASE("no trap is written while a thread may share the memory with a child of vfork") {
  held_process held;
  held.table.add_thread(held.process, 11).late = true;
  const auto inserted = held.insert(breakpoint_kind::software);
  REQUIRE_FALSE(inserted.has_value());
  CHECK(inserted.error().code == error_code::timed_out);
}

TEST_CASE("no trap is written into memory that another process shares") {
  held_process held;
  traced_process& child = held.table.make(20);
  child.parent = 10;
  child.shares_memory = true;
  const auto inserted = held.insert(breakpoint_kind::software);
  REQUIRE_FALSE(inserted.has_value());
  CHECK(inserted.error().code == error_code::unsupported);
}

TEST_CASE("traps stay out of the code until the child of vfork has left it") {
  held_process held;
  REQUIRE(held.insert(breakpoint_kind::software).has_value());
  held.process.threads[10].in_vfork = true;
  held.run();
  CHECK_FALSE(held.kernel.memory.has_trap(10, place));
  held.process.threads[10].in_vfork = false;
  held.armed.put_back_software(held.process);
  CHECK(held.kernel.memory.has_trap(10, place));
}

TEST_CASE("a breakpoint that no register can be had for becomes a trap, unless the tool wants a register") {
  held_process held;
  for (const int request : {static_cast<int>(PTRACE_POKEUSER), static_cast<int>(PTRACE_SETREGSET)}) {
    held.kernel.calls.refusals[request] = ENOSPC;
  }
  const auto hardware = held.insert(breakpoint_kind::hardware);
  REQUIRE_FALSE(hardware.has_value());
  CHECK(hardware.error().code == error_code::unsupported);
  CHECK_FALSE(held.process.breakpoints.uses_registers());
  CHECK(held.insert(breakpoint_kind::automatic) == breakpoint_kind::software);
}

TEST_CASE("a thread that is being killed does not make a breakpoint fail") {
  held_process held;
  held.kernel.calls.gone.insert(10);
  CHECK(held.insert(breakpoint_kind::hardware) == breakpoint_kind::hardware);
}

TEST_CASE("a breakpoint that serves two purposes stays until both have ended") {
  held_process held;
  REQUIRE(held.insert(breakpoint_kind::software, &breakpoint::for_entry).has_value());
  REQUIRE(held.insert(breakpoint_kind::automatic) == breakpoint_kind::software);
  REQUIRE(held.armed.remove(held.process, &breakpoint::for_entry).has_value());
  held.run();
  CHECK(held.kernel.memory.has_trap(10, place));
  REQUIRE(held.armed.remove(held.process, &breakpoint::for_user, place).has_value());
  CHECK_FALSE(held.kernel.memory.has_trap(10, place));
  CHECK(held.process.breakpoints.all.empty());
  CHECK(held.process.breakpoints.past_traps.size() == 1);
}

TEST_CASE("forks are reported while a trap is there for them to inherit") {
  held_process held;
  REQUIRE(held.insert(breakpoint_kind::hardware).has_value());
  CHECK_FALSE(held.process.sees_forks);
  REQUIRE(held.armed.remove_all(held.process).has_value());
  REQUIRE(held.insert(breakpoint_kind::software).has_value());
  CHECK(held.process.sees_forks);
  REQUIRE(held.armed.remove_all(held.process).has_value());
  CHECK_FALSE(held.process.sees_forks);
}
