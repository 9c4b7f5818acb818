// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Processes whose end meets a stop, and processes that are held at their end while the tool, or the process that traces
// for it, goes another way. Each must end as without a tool.
#include <array>
#include <csignal>
#include <random>

#include <poll.h>

#include "ending_program.hpp"
#include "separate_tool.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// A program that is held at its end by a fault in its second thread.
class held_at_end {
 public:
  explicit held_at_end(tracer& t) : program("ways_to_end", {"thread_fault"}) {
    program.ready();
    attach_and_run(t, program);
    program.pipes().order('g');
    by = told_thread(program);
    CHECK(next<process_ending>(t).thread == by);
    // Time does not release it.
    REQUIRE(comes_to(static_cast<pid_t>(by.value()), 't'));
    CHECK(all_held(program.pid()));
  }
  bystander program;
  thread_id by;
};

}  // namespace

TEST_CASE("detach lets a process that is held at its end go, and it ends as it would have") {
  const auto t = new_tracer();
  held_at_end one(*t);
  const leave how = GENERATE(leave::running, leave::stopped);
  ok(t->detach(one.program.id(), how));
  CHECK(one.program.end() == signaled(SIGSEGV));
  check_silence(*t);
  CHECK(*t->is_idle());
}

TEST_CASE("kill lets a process that is held at its end go, with the status that it had already") {
  const auto t = new_tracer();
  held_at_end one(*t);
  ok(t->kill(one.program.id()));
  CHECK(next<process_ended>(*t).status == signaled(SIGSEGV));
  CHECK(one.program.end() == signaled(SIGSEGV));
}

TEST_CASE("kill ends a process whose end is to be reported, without that report") {
  const auto t = new_tracer();
  bystander program("ways_to_end", {"wait"});
  program.ready();
  ok(t->attach(program.id(), with_end));
  if (GENERATE(true, false)) ok(t->resume(program.id()));
  ok(t->kill(program.id()));
  CHECK(next<process_ended>(*t).status == signaled(SIGKILL));
  CHECK(program.end() == signaled(SIGKILL));
}

TEST_CASE("SIGKILL from another process does not change the status of a process that is held at its end") {
  const auto t = new_tracer();
  held_at_end one(*t);
  ::kill(one.program.pid(), SIGKILL);
  ok(t->resume(one.program.id()));
  CHECK(next<process_ended>(*t).status == signaled(SIGSEGV));
  CHECK(one.program.end() == signaled(SIGSEGV));
}

TEST_CASE("a process that SIGKILL ends while it is held is reported at once, and held until the resume") {
  const auto t = new_tracer();
  for (const char* const way : {"return", "thread_fault"}) {  // one thread, and several
    INFO(way);
    bystander program("ways_to_end", {way});
    program.ready();
    ok(t->attach(program.id(), with_end));
    check_silence(*t);
    ::kill(program.pid(), SIGKILL);
    CHECK(next<process_ending>(*t).status == signaled(SIGKILL));
    CHECK(all_held(program.pid()));
    CHECK_FALSE(registers_of(*t, program.id()).empty());
    ok(t->resume(program.id()));
    CHECK(next<process_ended>(*t).status == signaled(SIGKILL));
    CHECK(program.end() == signaled(SIGKILL));
  }
}

TEST_CASE("a process that SIGKILL ends while it is held ends when it is let go, also if its end was not received yet") {
  const auto t = new_tracer();
  for (const leave how : {leave::running, leave::stopped}) {
    bystander program("ways_to_end", {"return"});
    program.ready();
    ok(t->attach(program.id(), with_end));
    ::kill(program.pid(), SIGKILL);
    pollfd event{t->event_descriptor(), POLLIN, 0};
    REQUIRE(::poll(&event, 1, static_cast<int>(std::chrono::milliseconds{patience}.count())) == 1);
    ok(t->detach(program.id(), how));
    CHECK(program.end() == signaled(SIGKILL));
    CHECK(*t->is_idle());
    CHECK(next<process_ending>(*t).status == signaled(SIGKILL));
    check_silence(*t);
  }
}

TEST_CASE("a resume that meets SIGKILL does not lose the report of the end") {
  const auto t = new_tracer();
  for (int round = 0; round < 20; ++round) {
    bystander program("ways_to_end", {"return"});
    program.ready();
    ok(t->attach(program.id(), with_end));
    ::kill(program.pid(), SIGKILL);
    ok(t->resume(program.id()));
    const auto event = next_event(*t);
    // SIGKILL may come just while the threads are continued.
    if (std::holds_alternative<process_ending>(event.what)) {
      CHECK(std::get<process_ending>(event.what).status == signaled(SIGKILL));
      ok(t->resume(program.id()));
      CHECK(next<process_ended>(*t).status == signaled(SIGKILL));
    } else {
      CHECK(std::holds_alternative<process_ended>(event.what));
    }
    CHECK(program.end() == signaled(SIGKILL));
  }
}

TEST_CASE("the hold limit lets a process go that is held at its end") {
  tracer_options options;
  options.hold_limit = 200ms;
  const auto t = new_tracer(options);
  held_at_end one(*t);
  CHECK(one.program.end() == signaled(SIGSEGV));
  CHECK(next<control_lost>(*t).why.code == error_code::limit);
}

TEST_CASE("a process that is held at its end ends as it would have when the tool or its tracer server is killed") {
  bystander program("ways_to_end", {"thread_fault"});
  program.ready();
  const bool kills_tool = GENERATE(true, false);
  {
    separate_tool tool([&](const separate_tool::say& say) {
      const auto t = tracer::create();
      if (!t || !(*t)->attach(program.id(), with_end) || !(*t)->resume(program.id())) ::_exit(1);
      say(1);
      const auto event = (*t)->wait(clock::now() + patience);
      say(event && *event && std::holds_alternative<process_ending>((*event)->what) ? 2 : 0);
      for (;;) ::pause();
    });
    REQUIRE(tool.heard() == 1);
    program.pipes().order('g');
    told_thread(program);
    REQUIRE(tool.heard() == 2);
    CHECK(all_held(program.pid()));
    ::kill(kills_tool ? tool.pid() : tracing_process_of(tool.pid()), SIGKILL);
    CHECK(program.end() == signaled(SIGSEGV));
  }
}

TEST_CASE("an end that meets stops of all threads is reported once, with its status and its thread") {
  struct expected_end {
    const char* name;
    exit_status status;
  };
  const auto t = new_tracer();
  std::minstd_rand random(1);
  int stops = 0;
  for (int round = 0; round < 150; ++round) {
    // The storm takes longer than the others, and meets many stops.
    constexpr std::array<int, 4> ways = {0, 1, 2, 4};
    const int way_of_round = ways[static_cast<std::size_t>(round) % ways.size()];
    const auto [name, status] = std::to_array<expected_end>(
        {{"return", exited(7)},
         {"thread_fault", signaled(SIGSEGV)},
         {"thread_exit", exited(10)},
         {"storm", exited(20)},
         {"quick", exited(0)}})[static_cast<std::size_t>(round % 50 == 0 ? 3 : way_of_round)];
    INFO(name << ", round " << round);
    bystander program("ways_to_end", {name});
    program.ready();
    attach_and_run(*t, program);
    program.pipes().order('g');
    // Not a wait for something: the stops are to come at different moments.
    for (auto until = clock::now() + std::chrono::microseconds(random() % 400); clock::now() < until;) {
    }
    int endings = 0;
    for (bool ended = false; !ended;) {
      const auto asked = t->interrupt(program.id());
      const auto event = next_event(*t);
      if (std::holds_alternative<interrupted>(event.what)) ++stops;
      if (const auto* end = std::get_if<process_ending>(&event.what)) {
        ++endings;
        CHECK(end->status == status);
        CHECK(end->thread == told_thread(program));
        check_memory(program.id());
        CHECK(has_thread(registers_of(*t, program.id()), end->thread));
      }
      ended = std::holds_alternative<process_ended>(event.what);
      if (ended) CHECK(std::get<process_ended>(event.what).status == status);
      if (!ended) ok(t->resume(program.id()));
      if (!asked) CHECK(asked.error().code == error_code::process_gone);
    }
    CHECK(endings == 1);
    CHECK(program.end() == status);
  }
  CHECK(stops > 0);
}

TEST_CASE("an end that meets attaches and detaches is the end that the program makes without them") {
  const auto t = new_tracer();
  int looks = 0;
  for (int round = 0; round < 50; ++round) {
    const bool faults = round % 2 == 0;
    bystander program("ways_to_end", {faults ? "thread_fault" : "storm"});
    program.ready();
    program.pipes().order('g');
    const std::vector<attach_target> targets{{program.id(), {}, {}}};
    for (bool ended = false; !ended;) {
      const auto held = t->attach_all(targets, with_end);
      if (!held.front()) {
        INFO(held.front().error().message);
        CHECK((held.front().error().code == error_code::process_gone ||
               held.front().error().code == error_code::not_found));
        break;
      }
      ++looks;
      ok(t->resume(program.id()));
      const auto event = t->wait(clock::now());
      ok(event);
      ended = event->has_value() && std::holds_alternative<process_ended>((*event)->what);
      if (ended) break;
      const auto left = t->detach(program.id());
      if (!left) CHECK(left.error().code == error_code::process_gone);
    }
    CHECK(program.end() == (faults ? signaled(SIGSEGV) : exited(20)));
    while (*t->wait(clock::now())) {
    }
  }
  CHECK(looks > 0);
}
