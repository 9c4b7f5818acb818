// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <set>

#include "breakpoint_registers.hpp"
#include "inferior.hpp"
#include "kernel/register_trial.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// Resumes until the process ends, and counts the hits on the way.
struct run_of_hits {
  int hits = 0;
  std::set<thread_id> threads;
  exit_status status;
};

run_of_hits count_hits(tracer& t, process_id id, target_address address) {
  run_of_hits run;
  while (true) {
    ok(t.resume(id));
    const process_event event = next_event(t);
    if (const auto* ended = std::get_if<process_ended>(&event.what)) {
      run.status = ended->status;
      return run;
    }
    if (const auto* problem = std::get_if<tracing_problem>(&event.what)) FAIL(problem->what.message);
    REQUIRE(std::holds_alternative<breakpoint_hit>(event.what));
    const auto& hit = std::get<breakpoint_hit>(event.what);
    CHECK(hit.address == address);
    ++run.hits;
    run.threads.insert(hit.thread);
  }
}

int in_memory(process_id id, target_address address) {
  std::byte b{};
  process_memory memory(id);
  ok(read_exact(memory, address, {&b, 1}));
  return std::to_integer<int>(b);
}

}  // namespace

TEST_CASE("whether breakpoint registers stop a thread is found out as gdb finds it") {
  const tracing::kernel_ptrace_calls calls;
  CHECK(tracing::breakpoint_registers_stop_threads(calls) == has_breakpoint_registers());
}

TEST_CASE("a breakpoint is hit as often as its function is called, before the function runs") {
  const auto kind = GENERATE(from_range(kinds_here()));
  const auto t = new_tracer();
  inferior program("call_marker", {"3"});
  const process_id id = at_entry(*t, program);
  const target_address marker = address_of("call_marker", "marker");
  const target_address calls = address_of("call_marker", "marker_calls");
  const int byte = in_memory(id, marker);
  REQUIRE(t->insert_breakpoint(id, marker, kind).value() == kind);
  REQUIRE(t->insert_breakpoint(id, marker).value() == kind);
  // While the process is held its code is as it was: a tool that dies now leaves nothing in it.
  CHECK(in_memory(id, marker) == byte);
  for (int i = 0; i < 3; ++i) {
    ok(t->resume(id));
    const auto hit = next<breakpoint_hit>(*t);
    CHECK(hit.address == marker);
    CHECK(hit.thread.value() == id.value());
    CHECK(in_memory(id, calls) == i);
  }
  CHECK(run_to_end(*t, id).value == 6);
  CHECK(program.rest() == "calls 3\n");
}

TEST_CASE("a breakpoint that was removed is not hit") {
  const auto kind = GENERATE(from_range(kinds_here()));
  const auto t = new_tracer();
  inferior program("call_marker", {"3"});
  const process_id id = at_entry(*t, program);
  const target_address marker = address_of("call_marker", "marker");
  const int byte = in_memory(id, marker);
  ok(t->insert_breakpoint(id, marker, kind));
  ok(t->resume(id));
  next<breakpoint_hit>(*t);
  ok(t->remove_breakpoint(id, marker));
  CHECK(in_memory(id, marker) == byte);
  CHECK(run_to_end(*t, id).value == 6);
  CHECK(program.rest() == "calls 3\n");
}

TEST_CASE("each hit of many threads at once is reported, also those of threads that are made later") {
  const auto kind = GENERATE(from_range(kinds_here()));
  const int count = GENERATE(1, 256);
  const auto t = new_tracer();
  inferior program("threads_at_marker", {std::to_string(count)});
  const process_id id = at_entry(*t, program);
  const target_address marker = address_of("threads_at_marker", "marker");
  REQUIRE(t->insert_breakpoint(id, marker, kind).value() == kind);
  const run_of_hits run = count_hits(*t, id, marker);
  CHECK(run.hits == count + 2);
  CHECK(run.threads.size() == static_cast<std::size_t>(count) + 2);
  CHECK(run.status == exit_status{false, 8, false});
  CHECK(program.rest() == "calls " + std::to_string(count + 2) + "\n");
}

TEST_CASE("forked children that run onto the breakpoint run to their own end") {
  const auto kind = GENERATE(from_range(kinds_here()));
  const auto t = new_tracer();
  inferior program("fork_calls");
  const process_id id = at_entry(*t, program);
  const target_address marker = address_of("fork_calls", "marker");
  ok(t->insert_breakpoint(id, marker, kind));
  const run_of_hits run = count_hits(*t, id, marker);
  CHECK(run.hits == 3);
  CHECK(run.status.value == 9);
  CHECK(program.rest() ==
        "child calls 2\nchild status 5\nchild calls 3\nchild status 5\nchild calls 4\nchild status 5\ncalls 3\n");
}

TEST_CASE("children of vfork and posix_spawn run, and the breakpoint is armed again after them") {
  const auto kind = GENERATE(from_range(kinds_here()));
  const auto t = new_tracer();
  inferior program("spawn_calls");
  const process_id id = at_entry(*t, program);
  const target_address marker = address_of("spawn_calls", "marker");
  ok(t->insert_breakpoint(id, marker, kind));
  const run_of_hits run = count_hits(*t, id, marker);
  CHECK(run.hits == 5);  // the two calls by vforked children are not ours
  CHECK(run.status.value == 10);
  CHECK(program.rest() == "vfork 4\nspawn 4\nvfork 4\nspawn 4\ncalls 7\n");
}
