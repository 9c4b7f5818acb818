// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Stops that are asked for, signals, group stops, exec, and letting go.
#include <csignal>

#include <poll.h>
#include <sys/wait.h>

#include "breakpoint_registers.hpp"
#include "inferior.hpp"
#include "patience.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

pid_t number(process_id id) {
  return static_cast<pid_t>(id.value());
}

/// Launched, and running: it has said that it is ready.
process_id running(tracer& t, inferior& program) {
  const process_id id = at_entry(t, program);
  ok(t.resume(id));
  REQUIRE(program.line() == "ready");
  return id;
}

/// Waits until the kernel shows this state; what changes it has been done already.
bool comes_to_state(process_id id, char state) {
  const auto give_up = clock::now() + patience;
  while (clock::now() < give_up) {
    if (status_line(id, "State").substr(0, 1)[0] == state) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a running process is interrupted, resumed, and runs on") {
  const auto t = new_tracer();
  inferior program("echo");
  const process_id id = running(*t, program);
  CHECK_FALSE(t->insert_breakpoint(id, target_address{0x1000}).has_value());
  for (int i = 0; i < 20; ++i) {
    ok(t->interrupt(id));
    next<interrupted>(*t);
    CHECK(status_line(id, "State").starts_with("t"));
    CHECK(t->interrupt(id).error().code == error_code::invalid_argument);
    program.order('a');
    ok(t->resume(id));
    CHECK(program.byte() == 'a');
  }
  CHECK(t->resume(id).error().code == error_code::invalid_argument);
  program.no_more_orders();
  CHECK(next<process_ended>(*t).status.value == 7);
  CHECK(t->resume(id).error().code == error_code::process_gone);
  CHECK(t->wait().error().code == error_code::invalid_argument);
}

TEST_CASE(
    "a wait gives nothing once its deadline has passed, and the descriptor is readable when wait would give an event") {
  const auto t = new_tracer();
  inferior program("echo");
  pollfd ready{t->event_descriptor(), POLLIN, 0};
  CHECK(::poll(&ready, 1, 0) == 0);
  const process_id id = running(*t, program);
  CHECK(::poll(&ready, 1, 0) == 0);
  const auto nothing = t->wait(clock::now() + 5ms);
  REQUIRE(nothing.has_value());
  CHECK_FALSE(nothing->has_value());
  ok(t->interrupt(id));
  CHECK(::poll(&ready, 1, 10000) == 1);
  next<interrupted>(*t);
  CHECK(::poll(&ready, 1, 0) == 0);
  ok(t->kill(id));
  CHECK(next<process_ended>(*t).status == exit_status{true, SIGKILL, false});
}

TEST_CASE("the threads of a process are known") {
  const auto t = new_tracer();
  inferior program("restless");
  const process_id id = running(*t, program);
  ok(t->interrupt(id));
  next<interrupted>(*t);
  const auto threads = t->threads(id);
  ok(threads);
  CHECK(std::to_string(threads->size()) == status_line(id, "Threads"));
  ok(t->resume(id));
  program.order('m');
  CHECK(next<process_ended>(*t).status.value == 15);
}

TEST_CASE("a process whose threads come and go is interrupted again and again") {
  const auto t = new_tracer();
  inferior program("restless");
  const process_id id = at_entry(*t, program);
  ok(t->insert_breakpoint(id, address_of("restless", "marker"), GENERATE(from_range(kinds_here()))));
  ok(t->resume(id));
  REQUIRE(program.line() == "ready");
  for (int i = 0; i < 100; ++i) {
    ok(t->interrupt(id));
    next<interrupted>(*t);
    ok(t->resume(id));
  }
  program.order('m');
  for (int i = 0; i < 5; ++i) {
    next<breakpoint_hit>(*t);
    ok(t->resume(id));
  }
  CHECK(next<process_ended>(*t).status.value == 15);
}

TEST_CASE("a process that is killed while it is held, or while it is being stopped, ends by that signal") {
  const auto t = new_tracer();
  for (int i = 0; i < 20; ++i) {
    inferior program("restless");
    const process_id id = running(*t, program);
    const bool held = i % 2 == 0;
    ok(t->interrupt(id));
    if (held) next<interrupted>(*t);
    ::kill(number(id), SIGKILL);
    static_cast<void>(t->resume(id));
    while (true) {
      const process_event event = next_event(*t);
      if (const auto* end = std::get_if<process_ended>(&event.what)) {
        CHECK(end->status == exit_status{true, SIGKILL, false});
        break;
      }
      static_cast<void>(t->resume(id));
    }
  }
}

TEST_CASE("signals reach the program untouched: number, value, sender and order") {
  const auto kind = GENERATE(from_range(kinds_here()));
  const auto t = new_tracer();
  inferior program("signals");
  program.request.environment->push_back("SENDER=" + std::to_string(::getpid()));
  const process_id id = at_entry(*t, program);
  ok(t->insert_breakpoint(id, address_of("signals", "marker"), kind));
  ok(t->resume(id));
  REQUIRE(program.line() == "ready");
  constexpr int many = 300;
  int sent = 0;
  const auto send = [&](int count) {
    for (int i = 0; i < count; ++i) {
      sigval value{};
      value.sival_int = sent++;
      REQUIRE(::sigqueue(number(id), SIGRTMIN, value) == 0);
    }
  };
  send(many / 3);
  // Some come while the process is held, at a breakpoint that it must be stepped off.
  program.order('m');
  next<breakpoint_hit>(*t);
  send(many / 3);
  ::kill(number(id), SIGUSR1);
  ok(t->resume(id));
  CHECK(program.line() == "did m");
  ok(t->interrupt(id));
  next<interrupted>(*t);
  send(many / 3);
  ok(t->resume(id));
  program.order('x');
  CHECK(program.line() == "did x");
  program.no_more_orders();
  CHECK(next<process_ended>(*t).status.value == 12);
  CHECK(program.rest() == "count 300 in order 1 from sender 300 traps 0 other 1 calls 1\n");
}

TEST_CASE("traps of the program's own go to the program's handler") {
  const auto kind = GENERATE(from_range(kinds_here()));
  const auto t = new_tracer();
  inferior program("signals");
  const process_id id = at_entry(*t, program);
  ok(t->insert_breakpoint(id, address_of("signals", "marker"), kind));
  ok(t->resume(id));
  REQUIRE(program.line() == "ready");
  for (const char order : {'t', 'i', 't'}) {
    program.order(order);
    CHECK(program.line() == std::string("did ") + order);
  }
  ::kill(number(id), SIGTRAP);
  program.no_more_orders();
  CHECK(next<process_ended>(*t).status.value == 12);
  CHECK_THAT(program.rest(), ContainsSubstring("traps 3 ") && ContainsSubstring("calls 0"));
}

TEST_CASE("a stop signal stops the process as without a tracer, and SIGCONT continues it") {
  const auto t = new_tracer();
  inferior program("restless");
  const process_id id = running(*t, program);
  ::kill(number(id), SIGSTOP);
  CHECK(next<group_stopped>(*t).signal == SIGSTOP);
  // Interrupted and resumed, it is as stopped as before.
  ok(t->interrupt(id));
  next<interrupted>(*t);
  ok(t->resume(id));
  CHECK_FALSE(t->wait(clock::now() + 20ms)->has_value());
  ::kill(number(id), SIGCONT);
  next<group_continued>(*t);
  program.order('m');
  CHECK(next<process_ended>(*t).status.value == 15);
  CHECK(program.rest() == "calls 5\n");
}

TEST_CASE("a stop signal that comes while the process is held stops it at the resume") {
  const auto t = new_tracer();
  inferior program("echo");
  const process_id id = running(*t, program);
  ok(t->interrupt(id));
  next<interrupted>(*t);
  ::kill(number(id), SIGSTOP);
  ok(t->resume(id));
  CHECK(next<group_stopped>(*t).signal == SIGSTOP);
  ok(t->interrupt(id));
  next<interrupted>(*t);
  ::kill(number(id), SIGCONT);
  ok(t->resume(id));
  next<group_continued>(*t);
  program.order('b');
  CHECK(program.byte() == 'b');
  program.no_more_orders();
  CHECK(next<process_ended>(*t).status.value == 7);
}

TEST_CASE("detaching leaves a group-stopped process stopped") {
  const auto t = new_tracer();
  inferior program("restless");
  const process_id id = running(*t, program);
  ::kill(number(id), SIGSTOP);
  next<group_stopped>(*t);
  ok(t->detach(id, GENERATE(leave::running, leave::stopped)));
  CHECK(status_line(id, "TracerPid") == "0");
  CHECK(comes_to_state(id, 'T'));
  ::kill(number(id), SIGCONT);
  program.order('m');
  CHECK(next<process_ended>(*t).status.value == 15);
}

TEST_CASE("a launched process that was detached runs to its end, and its exit status is still reported") {
  const auto kind = GENERATE(from_range(kinds_here()));
  const bool held = GENERATE(true, false);
  const auto t = new_tracer();
  inferior program("restless");
  const process_id id = at_entry(*t, program);
  ok(t->insert_breakpoint(id, address_of("restless", "marker"), kind));
  ok(t->resume(id));
  REQUIRE(program.line() == "ready");
  if (held) {
    ok(t->interrupt(id));
    next<interrupted>(*t);
  }
  ok(t->detach(id));
  CHECK(status_line(id, "TracerPid") == "0");
  program.order('m');
  CHECK(next<process_ended>(*t).status.value == 15);
  CHECK(program.rest() == "calls 5\n");
}

TEST_CASE("a detach in the middle of many hits leaves no thread with a pending trap") {
  const auto kind = GENERATE(from_range(kinds_here()));
  const int reported = GENERATE(1, 2, 20);
  const auto t = new_tracer();
  inferior program("threads_at_marker", {"64"});
  const process_id id = at_entry(*t, program);
  ok(t->insert_breakpoint(id, address_of("threads_at_marker", "marker"), kind));
  for (int i = 0; i < reported; ++i) {
    ok(t->resume(id));
    next<breakpoint_hit>(*t);
  }
  ok(t->detach(id));
  CHECK(next<process_ended>(*t).status == exit_status{false, 8, false});
  CHECK(program.rest() == "calls 66\n");
}

TEST_CASE("a process that is detached stopped goes on at SIGCONT") {
  const auto t = new_tracer();
  inferior program("restless");
  const process_id id = GENERATE(true, false) ? running(*t, program) : at_entry(*t, program);
  ok(t->detach(id, leave::stopped));
  CHECK(status_line(id, "TracerPid") == "0");
  CHECK(comes_to_state(id, 'T'));
  ::kill(number(id), SIGCONT);
  program.order('m');
  CHECK(next<process_ended>(*t).status.value == 15);
}

TEST_CASE("a process that is detached stopped at its entry point runs no instruction of its program") {
  const auto t = new_tracer();
  inferior program("constructor_notes");
  const process_id id = at_entry(*t, program);
  ok(t->detach(id, leave::stopped));
  CHECK(comes_to_state(id, 'T'));
  CHECK(program.silent());
  ok(t->kill(id));
  CHECK(next<process_ended>(*t).status.value == SIGKILL);
  CHECK(program.rest().empty());
}

TEST_CASE("a process that execs stops at its new entry point, with its old number and without breakpoints") {
  const std::string who = GENERATE("leader", "thread");
  const auto kind = GENERATE(from_range(kinds_here()));
  const auto t = new_tracer();
  inferior program("exec_self", {who});
  const process_id id = at_entry(*t, program);
  ok(t->insert_breakpoint(id, address_of("exec_self", "marker"), kind));
  ok(t->resume(id));
  next<breakpoint_hit>(*t);
  ok(t->resume(id));
  next<entry_reached>(*t);
  CHECK(t->threads(id)->size() == 1);
  CHECK(program.line() == who + " pid " + std::to_string(id.value()));
  CHECK(program.silent());
  CHECK(run_to_end(*t, id).value == 13);
  CHECK(program.rest() == "last pid " + std::to_string(id.value()) + "\n");
}

TEST_CASE("a process whose leader has ended is stopped, hits breakpoints and is let go like any other") {
  const auto kind = GENERATE(from_range(kinds_here()));
  const auto t = new_tracer();
  inferior program("leader_exits");
  const process_id id = at_entry(*t, program);
  ok(t->insert_breakpoint(id, address_of("leader_exits", "marker"), kind));
  ok(t->resume(id));
  CHECK(next<breakpoint_hit>(*t).thread.value() != id.value());
  if (GENERATE(true, false)) {
    ok(t->resume(id));
  } else {
    ok(t->detach(id));
  }
  CHECK(next<process_ended>(*t).status.value == 14);
  CHECK(program.rest() == "calls 1\n");
}

TEST_CASE("wait says that nothing is traced as soon as no event can come any more, and not before") {
  const auto t = new_tracer();
  CHECK(*t->is_idle());
  inferior program("echo");
  const process_id id = running(*t, program);
  CHECK_FALSE(*t->is_idle());
  ok(t->detach(id));
  CHECK_FALSE(*t->is_idle());
  program.no_more_orders();
  CHECK(next<process_ended>(*t).status.value == 7);
  CHECK(*t->is_idle());
}

TEST_CASE("two tracers control two processes at once") {
  const auto one = new_tracer();
  const auto other = new_tracer();
  inferior first("echo");
  inferior second("echo");
  const process_id a = running(*one, first);
  const process_id b = running(*other, second);
  CHECK(one->interrupt(b).error().code == error_code::process_gone);
  ok(one->interrupt(a));
  next<interrupted>(*one);
  second.order('2');
  CHECK(second.byte() == '2');
  ok(one->resume(a));
  first.no_more_orders();
  second.no_more_orders();
  CHECK(next<process_ended>(*one).status.value == 7);
  CHECK(next<process_ended>(*other).status.value == 7);
}

TEST_CASE("one tracer controls several processes") {
  const auto t = new_tracer();
  inferior first("echo");
  inferior second("echo");
  const process_id a = running(*t, first);
  const process_id b = running(*t, second);
  ok(t->interrupt(a));
  CHECK(next_event(*t).process == a);
  second.no_more_orders();
  CHECK(next_event(*t).process == b);
  ok(t->resume(a));
  first.no_more_orders();
  CHECK(next_event(*t).process == a);
}

TEST_CASE("processes run on after their tracer is destroyed") {
  const child_subreaper ours;
  inferior program("echo");
  process_id id;
  {
    const auto t = new_tracer();
    id = at_entry(*t, program);
    ok(t->insert_breakpoint(id, address_of("echo", "marker"), GENERATE(from_range(kinds_here()))));
    if (GENERATE(true, false)) ok(t->resume(id));
  }
  CHECK(program.line() == "ready");
  program.order('m');
  CHECK(program.byte() == 'm');
  program.no_more_orders();
  CHECK(WEXITSTATUS(orphan_status(number(id))) == 7);
}

TEST_CASE("a process that shares its memory with another ends well, and the loss of its breakpoint is reported") {
  const auto t = new_tracer();
  inferior program("share_memory");
  const process_id id = at_entry(*t, program);
  ok(t->insert_breakpoint(id, address_of("share_memory", "marker"), breakpoint_kind::software));
  ok(t->resume(id));
  next<breakpoint_hit>(*t);
  ok(t->resume(id));
  const process_event told = next_event(*t);
  REQUIRE(std::holds_alternative<tracing_problem>(told.what));
  CHECK(std::get<tracing_problem>(told.what).what.code == error_code::unsupported);
  CHECK(next<process_ended>(*t).status.value == 11);
  CHECK(program.rest() == "child status 5\ncalls 2\n");
}

TEST_CASE("kill_with_tool is off unless it is asked for") {
  const bool asked = GENERATE(true, false);
  inferior program("echo");
  program.request.kill_with_tool = asked;
  int pipe[2];
  REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
  const pid_t tool = ::fork();
  if (tool == 0) {
    auto t = tracer::create();
    const auto id = (*t)->launch(program.request);
    if (!id || !(*t)->wait() || !(*t)->resume(*id)) ::_exit(1);
    if (::write(pipe[1], "r", 1) != 1) ::_exit(1);
    while (true) ::pause();
  }
  program.started();
  char byte = 0;
  REQUIRE(::read(pipe[0], &byte, 1) == 1);
  ::close(pipe[0]);
  ::close(pipe[1]);
  CHECK(program.line() == "ready");
  ::kill(tool, SIGKILL);
  REQUIRE(::waitpid(tool, nullptr, 0) == tool);
  if (asked) {
    // It waits for orders until it is killed.
    CHECK(program.rest().empty());
    program.no_more_orders();
    return;
  }
  program.order('k');
  CHECK(program.byte() == 'k');
  program.no_more_orders();
  CHECK(program.rest() == "calls 0\n");
}
