// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The parts of the engine that only remember and count.
#include "catch.hpp"
#include "engine/attach_retries.hpp"
#include "engine/group_stops.hpp"
#include "engine/hold_limit.hpp"
#include "fake_kernel.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::tracing;
using namespace std::chrono_literals;

TEST_CASE("the time of the hold limit begins with the stop, or with the tool's last call where that is later") {
  tracer_options options;
  options.hold_limit = 100ms;
  hold_limit tool(options);
  const auto start = clock::now();
  traced_process process;
  tool.on_call(start);
  CHECK(tool.end_for(process) == no_deadline);
  process.hold(start + 10ms);
  CHECK(tool.end_for(process) == start + 110ms);
  tool.on_call(start + 50ms);
  CHECK(tool.end_for(process) == start + 150ms);
  options.hold_limit = std::chrono::milliseconds::max();
  CHECK(tool.end_for(process) == no_deadline);
  options.hold_limit.reset();
  CHECK(tool.end_for(process) == no_deadline);
}

TEST_CASE("processes are kept for the tool until it is silent for too long, and again after its next call") {
  tracer_options options;
  hold_limit tool(options);
  CHECK(tool.keeps_processes());
  tool.on_silence();
  CHECK_FALSE(tool.keeps_processes());
  tool.on_call(clock::now());
  CHECK(tool.keeps_processes());
  tool.on_leave();
  tool.on_call(clock::now());
  CHECK_FALSE(tool.keeps_processes());
}

TEST_CASE("the reason why a process was let go is known until the process is attached to again") {
  tracer_options options;
  options.hold_limit = 70ms;
  hold_limit tool(options);
  CHECK(tool.loss_of(process_id{10}) == nullptr);
  tool.lose(10, tool.reason(10));
  REQUIRE(tool.loss_of(process_id{10}) != nullptr);
  CHECK(tool.loss_of(process_id{10})->message.find("70 ms") != std::string::npos);
  tool.forget_loss(10);
  CHECK(tool.loss_of(process_id{10}) == nullptr);
}

TEST_CASE("an attach that met another tracer is tried again after a few milliseconds") {
  attach_retries retries;
  const auto now = clock::now();
  CHECK(retries.next() == no_deadline);
  for (pid_t process = 1; process <= 50; ++process) retries.add(process, now, {});
  CHECK(retries.next() > now);
  CHECK(retries.next() <= now + 16ms);
  CHECK(retries.take_due(now).empty());
  const auto first = retries.take_due(retries.next());
  CHECK_FALSE(first.empty());
  CHECK(first.size() + retries.take_due(now + 16ms).size() == 50);
  CHECK(retries.empty());
}

TEST_CASE("a group stop and its end are reported once for all threads") {
  event_probe events;
  group_stops part(events.queue);
  traced_process process;
  process.id = 10;
  for (const pid_t task : {10, 11}) part.on_group_stop(process, process.threads[task], SIGTSTP);
  CHECK(events.next_as<group_stopped>()->signal == SIGTSTP);
  CHECK_FALSE(events.next().has_value());
  // A thread that did not take part says nothing about the stop.
  part.on_no_group_stop(process, process.threads[12]);
  CHECK_FALSE(events.next().has_value());
  for (const pid_t task : {10, 11}) part.on_no_group_stop(process, process.threads[task]);
  CHECK(events.next_as<group_continued>().has_value());
  CHECK_FALSE(events.next().has_value());
}

TEST_CASE("an event is on its way until the tool has taken it") {
  event_probe events;
  events.queue.report(10, interrupted{});
  events.queue.report(20, interrupted{});
  CHECK(events.queue.all_sent());
  CHECK(events.queue.has_any_of(process_id{10}));
  events.queue.taken(1);
  CHECK_FALSE(events.queue.has_any_of(process_id{10}));
  CHECK(events.queue.has_any_of(process_id{20}));
  // The tool cannot have taken more than was sent.
  events.queue.taken(100);
  CHECK_FALSE(events.queue.has_any_of(process_id{20}));
  CHECK(events.next()->process == process_id{10});
}
