// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/tracee_table.hpp"

#include "catch.hpp"

using namespace mpiacq;
using namespace mpiacq::tracing;

TEST_CASE("a thread is found by its number until the thread or its process is dropped") {
  tracee_table table;
  traced_process& one = table.make(10);
  traced_process& other = table.make(20);
  table.add_thread(one, 10);
  table.add_thread(one, 11);
  table.add_thread(other, 20);
  CHECK(table.with_thread(11) == &one);
  CHECK(table.with_thread(20) == &other);
  table.drop_thread(one, 11);
  CHECK(table.with_thread(11) == nullptr);
  CHECK(one.threads.size() == 1);
  table.drop_threads(one);
  CHECK(table.with_thread(10) == nullptr);
  CHECK(table.find(10) == &one);
  table.erase(other);
  CHECK(table.with_thread(20) == nullptr);
  CHECK(table.find(20) == nullptr);
  CHECK(table.ids() == std::vector<pid_t>{10});
}

TEST_CASE("a process is stopped when every thread is, apart from a leader that has ended") {
  tracee_table table;
  traced_process& process = table.make(10);
  traced_thread& leader = table.add_thread(process, 10);
  traced_thread& second = table.add_thread(process, 11);
  second.state = thread_state::stopped;
  CHECK_FALSE(process.is_stopped());
  leader.zombie = true;
  CHECK(process.is_stopped());
  second.state = thread_state::listening;
  CHECK_FALSE(process.is_stopped());
  second.late = true;
  CHECK_FALSE(process.is_stopped());
  CHECK(process.is_stopped_but_for_late_threads());
}

TEST_CASE("a process shares its memory with the parent that made it, and with its own children") {
  tracee_table table;
  traced_process& parent = table.make(10);
  traced_process& child = table.make(20);
  child.parent = 10;
  CHECK_FALSE(table.shares_memory(parent));
  child.shares_memory = true;
  CHECK(table.shares_memory(parent));
  CHECK(table.shares_memory(child));
  CHECK_FALSE(table.shares_memory(table.make(30)));
}

TEST_CASE("a thread that comes later gets the breakpoint registers of its process at its next stop") {
  tracee_table table;
  traced_process& process = table.make(10);
  CHECK_FALSE(table.add_thread(process, 10).registers_due);
  REQUIRE(process.breakpoints.take_register({target_address{0x1000}, 0}));
  CHECK(table.add_thread(process, 11).registers_due);
}
