// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A thread that the kernel does not let stop: in vfork, until its child leaves the memory.
#include "breakpoint_registers.hpp"
#include "inferior.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

const tracer_options short_limit = {.stop_limit = 50ms, .tracing_program = {}};

process_id in_vfork(tracer& t, inferior& program, bool with_breakpoint) {
  const process_id id = at_entry(t, program);
  if (with_breakpoint) ok(t.insert_breakpoint(id, address_of("long_vfork", "marker"), breakpoint_kind::hardware));
  ok(t.resume(id));
  REQUIRE(program.line() == "ready");
  return id;
}

error next_problem(tracer& t) {
  const process_event event = next_event(t);
  REQUIRE(std::holds_alternative<tracing_problem>(event.what));
  return std::get<tracing_problem>(event.what).what;
}

}  // namespace

TEST_CASE("a thread that does not stop in time is named in a problem, and the stop goes on without it") {
  if (!has_breakpoint_registers()) MPIACQ_SKIP(breakpoint_registers_have_no_effect);
  const auto t = new_tracer(short_limit);
  inferior program("long_vfork");
  const process_id id = in_vfork(*t, program, true);
  ok(t->interrupt(id));
  const error problem = next_problem(*t);
  CHECK(problem.code == error_code::timed_out);
  CHECK_THAT(problem.message, ContainsSubstring("thread " + std::to_string(id.value())));
  next<interrupted>(*t);
  // A trap in memory that a child of vfork runs in would kill it.
  const auto software = t->insert_breakpoint(id, address_of("long_vfork", "main"), breakpoint_kind::software);
  CHECK(software.error().code == error_code::timed_out);
  ok(t->resume(id));
  program.order('g');
  next<breakpoint_hit>(*t);
  CHECK(run_to_end(*t, id).value == 16);
  CHECK(program.rest() == "child status 5\n");
}

TEST_CASE("a late thread that comes back from the kernel while its process is held is held too") {
  const auto t = new_tracer(short_limit);
  inferior program("long_vfork");
  const process_id id = in_vfork(*t, program, false);
  ok(t->interrupt(id));
  next_problem(*t);
  next<interrupted>(*t);
  program.order('g');
  CHECK_FALSE(t->wait(clock::now() + 50ms)->has_value());
  CHECK(program.silent());
  CHECK(run_to_end(*t, id).value == 16);
}

TEST_CASE("a thread that cannot be stopped is let go when it comes back") {
  if (!has_breakpoint_registers()) MPIACQ_SKIP(breakpoint_registers_have_no_effect);
  const auto t = new_tracer(short_limit);
  inferior program("long_vfork");
  const process_id id = in_vfork(*t, program, true);
  const auto detached = t->detach(id);
  REQUIRE_FALSE(detached.has_value());
  CHECK(detached.error().code == error_code::timed_out);
  CHECK_THAT(detached.error().message, ContainsSubstring("thread " + std::to_string(id.value())));
  next_problem(*t);
  program.order('g');
  CHECK(next<process_ended>(*t).status.value == 16);
  CHECK(program.rest() == "child status 5\n");
}

TEST_CASE("a tracer that ends while a thread cannot be stopped leaves that thread no trap") {
  if (!has_breakpoint_registers()) MPIACQ_SKIP(breakpoint_registers_have_no_effect);
  inferior program("long_vfork");
  {
    const auto t = new_tracer(short_limit);
    in_vfork(*t, program, true);
  }
  program.order('g');
  CHECK(program.rest() == "child status 5\n");
}
