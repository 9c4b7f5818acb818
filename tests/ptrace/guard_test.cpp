// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The process that traces is killed with SIGKILL, and what it traced goes on to its own end.
#include "breakpoint_registers.hpp"
#include "separate_tool.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

void kill_tracing_process() {
  REQUIRE(::kill(tracing_process_of(::getpid()), SIGKILL) == 0);
}

/// The program's own end, by which it is seen that it has met the place of the breakpoint and gone on.
void check_goes_on(tracer& t, inferior& program) {
  CHECK_THAT(next<control_lost>(t).why.message, ContainsSubstring("signal 9"));
  program.order('m');
  CHECK(program.byte() == 'm');
  program.no_more_orders();
  const exit_status end = next<process_ended>(t).status;
  CHECK_FALSE(end.signaled);
  CHECK(end.value == 7);
  CHECK(program.rest() == "calls 1\n");
}

}  // namespace

TEST_CASE("a program that stands at its entry point runs on after the tracer server is killed") {
  const auto t = new_tracer();
  inferior program("echo");
  at_entry(*t, program);
  kill_tracing_process();
  CHECK(program.line() == "ready");
  check_goes_on(*t, program);
}

TEST_CASE("the breakpoints of a running program are taken out after the tracer server is killed") {
  const auto kind = GENERATE(from_range(kinds_here()));
  const auto t = new_tracer();
  inferior program("echo");
  const process_id id = at_entry(*t, program);
  ok(t->insert_breakpoint(id, address_of("echo", "marker"), kind));
  ok(t->resume(id));
  CHECK(program.line() == "ready");
  kill_tracing_process();
  check_goes_on(*t, program);
}

TEST_CASE("a program that is held at a hit goes on from there after the tracer server is killed") {
  const auto kind = GENERATE(from_range(kinds_here()));
  const auto t = new_tracer();
  inferior program("threads_at_marker", {"8", "wait"});
  const process_id id = at_entry(*t, program);
  ok(t->insert_breakpoint(id, address_of("threads_at_marker", "marker"), kind));
  ok(t->resume(id));
  next<breakpoint_hit>(*t);
  kill_tracing_process();
  next<control_lost>(*t);
  // The guard has attached now. If the program had ended before, its status would be lost.
  program.order('e');
  const exit_status end = next<process_ended>(*t).status;
  INFO("signal or status " << end.value);
  CHECK_FALSE(end.signaled);
  CHECK(end.value == 8);
  CHECK(program.rest() == "calls 10\n");
}

TEST_CASE("breakpoints are taken out and the writes of restore_on_exit are made after the tracer server is killed") {
  const auto kind = GENERATE(from_range(kinds_here()));
  const auto t = new_tracer();
  bystander program("echo");
  program.ready();
  ok(t->attach(program.id()));
  ok(t->insert_breakpoint(program.id(), address_of("echo", "marker"), kind));
  const std::array<std::byte, 4> forty_one = {std::byte{41}};
  ok(t->restore_on_exit(program.id(), address_of("echo", "marker_calls"), forty_one));
  ok(t->resume(program.id()));
  kill_tracing_process();
  next<control_lost>(*t);
  CHECK(comes_true([&] { return none_held(program.pid()); }));
  program.pipes().order('m');
  CHECK(program.pipes().byte() == 'm');
  program.pipes().no_more_orders();
  CHECK(program.end().value == 7);
  CHECK(program.pipes().rest() == "calls 42\n");
}

TEST_CASE("held processes run after the tracer server is killed") {
  const auto t = new_tracer();
  bystander first("echo"), second("echo");
  first.ready(), second.ready();
  ok(t->attach(first.id()));
  ok(t->attach(second.id()));
  REQUIRE(all_held(second.pid()));
  kill_tracing_process();
  CHECK(comes_true([&] { return none_held(first.pid()) && none_held(second.pid()); }));
  const auto refused = t->resume(first.id());
  REQUIRE_FALSE(refused.has_value());
  CHECK_THAT(refused.error().message, ContainsSubstring("signal 9"));
  first.pipes().order('x');
  CHECK(first.pipes().byte() == 'x');
}

TEST_CASE("the guard takes the breakpoints out and ends after both the tracer server and the tool are killed") {
  bystander program("echo");
  program.ready();
  const target_address marker = address_of("echo", "marker");
  const separate_tool tool([&](const separate_tool::say& say) {
    auto made = tracer::create();
    if (!made || !(*made)->attach(program.id())) ::_exit(1);
    if (!(*made)->insert_breakpoint(program.id(), marker, breakpoint_kind::software)) ::_exit(2);
    if (!(*made)->resume(program.id())) ::_exit(3);
    say(1);
    ::pause();
  });
  CHECK(tool.heard() == 1);
  const auto [guard, tracing] = tracing_pair_of(tool.pid());
  tool.send(SIGKILL);
  ::kill(tracing, SIGKILL);
  CHECK(comes_true([id = guard] { return state_of(id) == '\0' || state_of(id) == 'Z'; }));
  CHECK(none_held(program.pid()));
  program.pipes().order('m');
  CHECK(program.pipes().byte() == 'm');
  program.pipes().no_more_orders();
  CHECK(program.end().value == 7);
}

TEST_CASE("a killed guard changes nothing, and a tracer without a guard still lets everything go") {
  bystander program("echo");
  program.ready();
  {
    const auto t = new_tracer();
    REQUIRE(::kill(tracing_pair_of(::getpid()).guard, SIGKILL) == 0);
    ok(t->attach(program.id()));
    ok(t->insert_breakpoint(program.id(), address_of("echo", "marker"), breakpoint_kind::software));
    ok(t->resume(program.id()));
    program.pipes().order('m');
    next<breakpoint_hit>(*t);
  }
  CHECK(comes_true([&] { return none_held(program.pid()); }));
  CHECK(program.pipes().byte() == 'm');
  program.pipes().no_more_orders();
  CHECK(program.end().value == 7);
}

TEST_CASE("the error about a tracing program that does not answer names it and says how it ended") {
  tracer_options options;
  options.tracing_program = "/bin/false";
  const auto made = tracer::create(options);
  REQUIRE_FALSE(made.has_value());
  CHECK(made.error().code == error_code::system);
  CHECK_THAT(made.error().message, ContainsSubstring("/bin/false") && ContainsSubstring("ended with status 1"));
}
