// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Writes to a place in memory are reported, each once, after it was made.
#include <set>

#include "breakpoint_registers.hpp"
#include "inferior.hpp"
#include "kernel/ptrace_arch.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

/// The program `writes`, at its entry, and the eight bytes that it writes to.
struct writer {
  explicit writer(tracer& tracer_of_it) : t(tracer_of_it), program("writes"), id(at_entry(t, program)) {}
  /// Nothing happens but that the order is carried out.
  void unseen(char what) {
    program.order(what);
    CHECK(program.line() == std::string("did ") + what);
    CHECK_FALSE(t.wait(clock::now())->has_value());
  }
  watch_hit seen(char what) {
    program.order(what);
    return next<watch_hit>(t);
  }
  void end() {
    program.no_more_orders();
    CHECK(next<process_ended>(t).status == exit_status{false, 24, false});
  }
  unsigned long value() const {
    unsigned long now = 0;
    process_memory memory(id);
    ok(read_exact(memory, place, std::as_writable_bytes(std::span{&now, 1})));
    return now;
  }
  tracer& t;
  inferior program;
  process_id id;
  target_address place = address_of("writes", "place") + 8;
};

}  // namespace

#define SKIP_WHERE_NONE                                                         \
  if (const char* reason = tracing::arch::why_no_writes()) MPIACQ_SKIP(reason); \
  if (!has_breakpoint_registers()) MPIACQ_SKIP(breakpoint_registers_have_no_effect)

TEST_CASE(
    "each write to a watched place is reported after it was made, with its thread, and nothing else is reported") {
  SKIP_WHERE_NONE;
  const auto t = new_tracer();
  writer w(*t);
  ok(t->insert_watchpoint(w.id, w.place, 8));
  ok(t->insert_watchpoint(w.id, w.place, 8));
  ok(t->resume(w.id));
  for (unsigned long i = 1; i <= 3; ++i) {
    const watch_hit hit = w.seen('w');
    CHECK(hit.address == w.place);
    CHECK(hit.thread.value() == w.id.value());
    CHECK(w.value() == i);
    CHECK(w.program.silent());
    ok(t->resume(w.id));
    CHECK(w.program.line() == "did w");
  }
  for (const char order : {'n', 'r', 'k'}) w.unseen(order);
  for (const char order : {'b', 'l'}) {
    w.seen(order);
    ok(t->resume(w.id));
    CHECK(w.program.line() == std::string("did ") + order);
  }
  CHECK(w.seen('t').thread.value() != w.id.value());
  ok(t->resume(w.id));
  CHECK(w.program.line() == "did t");
  w.end();
}

TEST_CASE("a watchpoint watches exactly as many bytes as were asked for") {
  SKIP_WHERE_NONE;
  const std::size_t length = GENERATE(1UL, 2UL, 4UL, 8UL);
  const auto t = new_tracer();
  writer w(*t);
  // The last ones of the eight.
  ok(t->insert_watchpoint(w.id, w.place + (8 - length), length));
  ok(t->resume(w.id));
  CHECK(w.seen('l').address == w.place + (8 - length));
  ok(t->resume(w.id));
  CHECK(w.program.line() == "did l");
  if (length < 8) w.unseen('b');
  CHECK(w.seen('w').address == w.place + (8 - length));
  ok(t->resume(w.id));
  CHECK(w.program.line() == "did w");
  w.end();
}

TEST_CASE("a write to a place of two watchpoints is reported for both") {
  SKIP_WHERE_NONE;
  const auto t = new_tracer();
  writer w(*t);
  ok(t->insert_watchpoint(w.id, w.place, 4));
  ok(t->insert_watchpoint(w.id, w.place + 4, 4));
  ok(t->resume(w.id));
  std::set<target_address> where = {w.seen('w').address};
  ok(t->resume(w.id));
  where.insert(next<watch_hit>(*t).address);
  CHECK(where == std::set<target_address>{w.place, w.place + 4});
  ok(t->resume(w.id));
  CHECK(w.program.line() == "did w");
  w.end();
}

TEST_CASE("each write of many threads at once is reported, also those of threads that are made later") {
  SKIP_WHERE_NONE;
  const auto t = new_tracer();
  writer w(*t);
  ok(t->insert_watchpoint(w.id, w.place, 8));
  ok(t->resume(w.id));
  std::set<thread_id> threads = {w.seen('m').thread};
  for (int i = 1; i < 32; ++i) {
    ok(t->resume(w.id));
    threads.insert(next<watch_hit>(*t).thread);
  }
  CHECK(threads.size() == 32);
  ok(t->resume(w.id));
  CHECK(w.program.line() == "did m");
  w.end();
}

TEST_CASE("a write by the instruction under a breakpoint of either kind is reported") {
  SKIP_WHERE_NONE;
  const auto kind = GENERATE(from_range(kinds_here()));
  const auto t = new_tracer();
  writer w(*t);
  const target_address instruction = address_of("writes", "write_first");
  ok(t->insert_watchpoint(w.id, w.place, 1));
  REQUIRE(t->insert_breakpoint(w.id, instruction, kind).value() == kind);
  ok(t->resume(w.id));
  for (int i = 0; i < 3; ++i) {
    w.program.order('i');
    CHECK(next<breakpoint_hit>(*t).address == instruction);
    ok(t->resume(w.id));
    CHECK(next<watch_hit>(*t).address == w.place);
    CHECK((w.value() & 0xff) == 77);
    ok(t->resume(w.id));
    CHECK(w.program.line() == "did i");
  }
  w.end();
}

TEST_CASE("breakpoints and watchpoints share the registers, and can be at the same address") {
  SKIP_WHERE_NONE;
  const auto t = new_tracer();
  writer w(*t);
  for (const char* name : {"main", "write_first", "write_whole"}) {
    REQUIRE(t->insert_breakpoint(w.id, address_of("writes", name)).value() == breakpoint_kind::hardware);
  }
  ok(t->insert_watchpoint(w.id, w.place, 8));
  CHECK(t->insert_watchpoint(w.id, w.place + 8, 8).error().code == error_code::unsupported);
  CHECK(t->insert_breakpoint(w.id, w.place).value() == breakpoint_kind::software);
  ok(t->remove_breakpoint(w.id, w.place));
  ok(t->remove_breakpoint(w.id, address_of("writes", "main")));
  ok(t->insert_watchpoint(w.id, w.place + 8, 8));
  ok(t->remove_watchpoint(w.id, w.place + 8));
  ok(t->resume(w.id));
  w.seen('w');
  ok(t->remove_watchpoint(w.id, w.place));
  ok(t->resume(w.id));
  CHECK(w.program.line() == "did w");
  w.unseen('b');
  w.end();
}

TEST_CASE("a watchpoint of an impossible length or address is refused") {
  SKIP_WHERE_NONE;
  const auto t = new_tracer();
  writer w(*t);
  CHECK(t->insert_watchpoint(w.id, w.place, 3).error().code == error_code::invalid_argument);
  CHECK(t->insert_watchpoint(w.id, w.place, 0).error().code == error_code::invalid_argument);
  CHECK(t->insert_watchpoint(w.id, w.place + 1, 2).error().code == error_code::invalid_argument);
  CHECK(t->insert_watchpoint(w.id, target_address{}, 1).error().code == error_code::invalid_argument);
  const target_address of_the_kernel{0xffff'ffff'8000'0000};
  const auto refused = t->insert_watchpoint(w.id, of_the_kernel, 8);
  CHECK(refused.error().code == error_code::invalid_argument);
  CHECK(refused.error().address == of_the_kernel);
  ok(t->insert_watchpoint(w.id, w.place, 8));
  CHECK(t->insert_watchpoint(w.id, w.place, 4).error().code == error_code::invalid_argument);
  ok(t->resume(w.id));
  CHECK(t->insert_watchpoint(w.id, w.place, 8).error().code == error_code::invalid_argument);
  w.end();
}

TEST_CASE("watchpoints do not disturb forked children, nor a process that was let go") {
  SKIP_WHERE_NONE;
  const auto t = new_tracer();
  writer w(*t);
  ok(t->insert_watchpoint(w.id, w.place, 8));
  ok(t->resume(w.id));
  w.program.order('f');
  CHECK(w.program.line() == "child 5");
  CHECK(w.program.line() == "did f");
  if (GENERATE(true, false)) {
    // In the middle of many hits.
    w.seen('m');
    ok(t->detach(w.id));
    CHECK(w.program.line() == "did m");
  } else {
    ok(t->detach(w.id));
  }
  w.unseen('w');
  w.unseen('m');
  w.end();
}
