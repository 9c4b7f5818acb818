// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/children.hpp"

#include <unistd.h>

#include "catch.hpp"
#include "fake_kernel.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::tracing;

namespace {

constexpr target_address child_place{0x4000};
using steps = std::vector<std::string>;

/// Process 10 runs, and has made process 20.
struct family {
  explicit family(bool follow) {
    parent.now = phase::running;
    parent.follow_children = follow;
    table.add_thread(parent, 10).state = thread_state::stopped;
    kernel.tasks.all[20] = {.process = 20, .parent = 10, .tracer = ::gettid(), .state = 't', .threads = 1};
  }
  /// The trap is in the child's copy of the code too.
  void inherit_trap() {
    REQUIRE(armed.insert(parent, child_place, breakpoint_kind::software, &breakpoint::for_user).has_value());
    armed.put_back_software(parent);
    REQUIRE(kernel.memory.write(20, child_place, arch::trap_instruction()).has_value());
  }

  fake_kernel kernel;
  tracee_table table;
  event_probe events;
  tracer_options options;
  hold_limit tool{options};
  breakpoints armed{kernel.access(), table, events.queue};
  children part{kernel.access(), table, armed, events.queue, tool};
  traced_process& parent = table.make(10);
};

}  // namespace

TEST_CASE("a followed child becomes a traced process, whether it or its maker reports first") {
  for (const bool child_first : {true, false}) {
    family of(true);
    if (child_first) {
      of.part.on_stop(20, 10, 0);
    } else {
      of.part.on_report(of.parent, 20, birth_stop::how::fork);
      CHECK(of.part.is_expected(20));
      of.part.on_stop(20, 10, 0);
    }
    const auto event = of.events.next();
    REQUIRE(event.has_value());
    CHECK(event->process == process_id{20});
    CHECK(std::get<process_born>(event->what).parent == process_id{10});
    REQUIRE(of.table.find(20) != nullptr);
    CHECK(of.table.find(20)->now == phase::held);
    CHECK(of.table.find(20)->follow_children);
    CHECK(of.part.empty());
  }
}

TEST_CASE("a child that is not followed is let go with its signal, and without the traps of its parent") {
  family of(false);
  of.inherit_trap();
  of.part.on_stop(20, 10, SIGUSR1);
  CHECK(of.kernel.calls.done() == steps{"detach 20 with 10"});
  CHECK_FALSE(of.kernel.memory.has_trap(20, child_place));
  CHECK(of.kernel.memory.has_trap(10, child_place));
  CHECK(of.table.find(20) == nullptr);
}

TEST_CASE("a child that shares its parent's memory waits until the parent has reported it") {
  family of(true);
  of.kernel.tasks.sharing.insert({10, 20});
  of.part.on_stop(20, 10, 0);
  CHECK(of.part.is_expected(20));
  CHECK(of.table.find(20) == nullptr);
  of.part.on_report(of.parent, 20, birth_stop::how::vfork);
  REQUIRE(of.table.find(20) != nullptr);
  CHECK(of.table.find(20)->shares_memory);
}

TEST_CASE("the traps of a parent are out of the memory before its child of vfork runs in it") {
  family of(false);
  of.inherit_trap();
  of.kernel.tasks.sharing.insert({10, 20});
  of.part.on_stop(20, 10, 0);
  CHECK(of.kernel.calls.done().empty());
  of.part.on_report(of.parent, 20, birth_stop::how::vfork);
  CHECK_FALSE(of.kernel.memory.has_trap(10, child_place));
  CHECK(of.kernel.calls.done() == steps{"detach 20"});
  CHECK(of.parent.breakpoints.all.size() == 1);
}

TEST_CASE("a child that shares memory without vfork costs its parent the traps, which is reported") {
  family of(false);
  of.inherit_trap();
  of.kernel.tasks.sharing.insert({10, 20});
  of.part.on_report(of.parent, 20, birth_stop::how::clone);
  CHECK(of.parent.breakpoints.all.empty());
  CHECK_FALSE(of.kernel.memory.has_trap(10, child_place));
  const auto problem = of.events.next_as<tracing_problem>();
  REQUIRE(problem.has_value());
  CHECK(problem->what.code == error_code::unsupported);
}

TEST_CASE("a child that comes after its maker has been killed is treated as that process's child") {
  for (const bool follow : {true, false}) {
    family of(follow);
    of.inherit_trap();
    of.part.on_parent_gone(of.parent);
    of.table.erase(of.parent);
    of.part.on_stop(20, 1, 0);
    CHECK_FALSE(of.kernel.memory.has_trap(20, child_place));
    CHECK((of.table.find(20) != nullptr) == follow);
    if (!follow) continue;
    CHECK(of.events.next_as<process_born>()->parent == process_id{10});
  }
}

TEST_CASE("a child of an unknown parent waits until it is known that no traced process made it") {
  family of(true);
  of.part.on_stop(20, 1, 0);
  CHECK(of.part.is_expected(20));
  of.parent.follow_children = false;
  of.part.place_unreported();
  CHECK(of.kernel.calls.done() == steps{"detach 20"});
}

TEST_CASE("no child is kept for a tool that has gone, or that is silent for too long") {
  for (const bool leaves : {true, false}) {
    family of(true);
    if (leaves) {
      of.tool.on_leave();
    } else {
      of.tool.on_silence();
    }
    of.part.on_stop(20, 10, 0);
    CHECK(of.kernel.calls.done() == steps{"detach 20"});
  }
}

TEST_CASE("a child that was let go before its maker reported it is not expected any more") {
  family of(false);
  of.part.on_stop(20, 10, 0);
  of.kernel.tasks.all[20].tracer = 0;
  of.part.on_report(of.parent, 20, birth_stop::how::fork);
  CHECK(of.part.empty());
}
