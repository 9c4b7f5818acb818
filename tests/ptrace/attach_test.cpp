// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Taking hold of programs that run already, and letting them go as they were.
#include <cstdio>
#include <fstream>

#include <sys/user.h>

#include "breakpoint_registers.hpp"
#include "bystander.hpp"
#include "kernel/ptrace_call.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

unsigned long births_of(pid_t process) {
  static const target_address where = address_of("restless", "births");
  unsigned long births = 0;
  process_memory memory{process_id{process}};
  ok(read_exact(memory, where, std::as_writable_bytes(std::span{&births, 1})));
  return births;
}

/// What the kernel shows of a process at rest, by our own ptrace calls.
struct snapshot_of_process {
  std::string registers;
  std::vector<unsigned long> debug_registers;
  std::string code;
};

std::string code_of(pid_t process) {
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  std::ifstream memory("/proc/" + std::to_string(process) + "/mem", std::ios::binary);
  std::string all;
  for (std::string line; std::getline(maps, line);) {
    unsigned long from = 0;
    unsigned long to = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &from, &to, rights) != 3 || rights[2] != 'x') continue;
    if (line.find("[vsyscall]") != std::string::npos) continue;
    const auto old = all.size();
    all.resize(old + (to - from));
    memory.seekg(static_cast<std::streamoff>(from));
    memory.read(all.data() + old, static_cast<std::streamsize>(to - from));
    REQUIRE(memory.good());
  }
  return all;
}

snapshot_of_process snapshot(pid_t process) {
  const tracing::kernel_ptrace_calls calls;
  ok(calls.seize(process, 0));
  ok(calls.interrupt(process));
  int status = 0;
  REQUIRE(::waitpid(process, &status, __WALL) == process);
  snapshot_of_process seen;
  seen.registers.resize(4096);
  for (const unsigned long set : {1UL, 2UL}) {  // NT_PRSTATUS, NT_PRFPREG
    std::string bytes(1024, '\0');
    const auto got = calls.get_registers(process, set, std::as_writable_bytes(std::span{bytes}));
    ok(got);
    seen.registers += bytes.substr(0, *got);
  }
#ifdef __x86_64__
  for (const std::size_t number : {0UL, 1UL, 2UL, 3UL, 6UL, 7UL}) {
    const auto value = calls.peek_user(process, offsetof(struct user, u_debugreg) + sizeof(long) * number);
    ok(value);
    seen.debug_registers.push_back(*value);
  }
#endif
  seen.code = code_of(process);
  ok(calls.detach(process, 0));
  return seen;
}

const std::vector<breakpoint_kind> kinds = kinds_here();

}  // namespace

TEST_CASE(
    "an attached process is held with all its threads, runs on, and both the tool and its parent learn how it ended") {
  const auto t = new_tracer();
  bystander program("echo");
  program.ready();
  ok(t->attach(program.id()));
  CHECK(all_held(program.pid()));
  program.pipes().order('a');
  CHECK(program.pipes().silent());
  ok(t->resume(program.id()));
  CHECK(program.pipes().byte() == 'a');
  program.pipes().no_more_orders();
  CHECK(next<process_ended>(*t).status == exit_status{false, 7, false});
  CHECK(program.end() == exit_status{false, 7, false});
}

TEST_CASE(
    "an attached process can be interrupted, stopped at breakpoints of both kinds, and killed like a launched one") {
  const auto kind = GENERATE(from_range(kinds));
  const auto t = new_tracer();
  bystander program("echo");
  program.ready();
  ok(t->attach(program.id()));
  const target_address marker = address_of("echo", "marker");
  REQUIRE(t->insert_breakpoint(program.id(), marker, kind).value() == kind);
  for (int i = 0; i < 3; ++i) {
    ok(t->resume(program.id()));
    program.pipes().order('m');
    CHECK(next<breakpoint_hit>(*t).address == marker);
  }
  ok(t->resume(program.id()));
  ok(t->interrupt(program.id()));
  next<interrupted>(*t);
  ok(t->kill(program.id()));
  CHECK(next<process_ended>(*t).status == exit_status{true, SIGKILL, false});
  CHECK(program.end() == exit_status{true, SIGKILL, false});
}

TEST_CASE("threads that start and end during an attach are all held") {
  const int makers = GENERATE(4, 40);
  const auto t = new_tracer();
  bystander program("restless", {std::to_string(makers)});
  program.ready();
  for (int i = 0; i < 50; ++i) {
    ok(t->attach(program.id()));
    CHECK(all_held(program.pid()));
    const auto births = births_of(program.pid());
    const auto threads = t->threads(program.id());
    ok(threads);
    CHECK(std::to_string(threads->size()) == status_line(program.id(), "Threads"));
    CHECK(births_of(program.pid()) == births);
    if (i % 2 == 0) ok(t->resume(program.id()));
    ok(t->detach(program.id()));
    CHECK(none_held(program.pid()));
  }
  program.pipes().order('m');
  CHECK(program.end().value == 15);
  CHECK(program.pipes().rest() == "calls " + std::to_string(makers + 1) + "\n");
}

TEST_CASE("every thread of an attached process hits its breakpoints, and detaching takes them all out") {
  const auto kind = GENERATE(from_range(kinds));
  const int hits = GENERATE(0, 1, 7, 41);
  const auto t = new_tracer();
  bystander program("restless", {"40"});
  program.ready();
  ok(t->attach(program.id()));
  ok(t->insert_breakpoint(program.id(), address_of("restless", "marker"), kind));
  program.pipes().order('m');
  for (int i = 0; i < hits; ++i) {
    ok(t->resume(program.id()));
    next<breakpoint_hit>(*t);
  }
  ok(t->detach(program.id()));
  CHECK(program.end() == exit_status{false, 15, false});
  CHECK(program.pipes().rest() == "calls 41\n");
}

TEST_CASE(
    "a process whose leader has ended can be attached to, stopped at a breakpoint, detached from and attached to "
    "again") {
  const auto kind = GENERATE(from_range(kinds));
  const auto t = new_tracer();
  bystander program("headless");
  program.ready();
  REQUIRE(comes_to(program.pid(), 'Z'));
  for (int i = 0; i < 3; ++i) {
    ok(t->attach(program.id()));
    CHECK(t->threads(program.id())->size() == 1);
    ok(t->insert_breakpoint(program.id(), address_of("headless", "marker"), kind));
    ok(t->resume(program.id()));
    program.pipes().order('m');
    CHECK(next<breakpoint_hit>(*t).thread.value() != program.pid());
    if (i == 2) break;
    ok(t->detach(program.id()));
    CHECK(program.pipes().byte() == 'm');
  }
  ok(t->resume(program.id()));
  CHECK(program.pipes().byte() == 'm');
  program.pipes().no_more_orders();
  CHECK(next<process_ended>(*t).status.value == 19);
  CHECK(program.end().value == 19);
}

TEST_CASE("a process whose leader has ended has a leader again after an exec under the tracer") {
  const auto t = new_tracer();
  bystander program("headless");
  program.ready();
  REQUIRE(comes_to(program.pid(), 'Z'));
  ok(t->attach(program.id()));
  ok(t->resume(program.id()));
  program.pipes().order('x');
  next<entry_reached>(*t);
  CHECK(t->threads(program.id())->front().value() == program.pid());
  ok(t->resume(program.id()));
  CHECK(next<process_ended>(*t).status.value == 20);
  CHECK(program.pipes().rest() == "last\n");
}

TEST_CASE("a leader that ends while its process is traced keeps neither a detach nor the next attach from working") {
  const auto t = new_tracer();
  bystander program("headless");
  ok(t->attach(program.id()));
  // It may have exec'd just now, or not yet.
  ok(t->resume(program.id()));
  process_event event;
  const auto until = clock::now() + 200ms;
  while (state_of(program.pid()) != 'Z' && clock::now() < until + 10s) {
    const auto told = t->wait(clock::now() + 5ms);
    ok(told);
    if (*told && std::holds_alternative<entry_reached>((*told)->what)) ok(t->resume(program.id()));
  }
  program.ready();
  for (int i = 0; i < 3; ++i) {
    ok(t->detach(program.id()));
    ok(t->attach(program.id()));
  }
  ok(t->detach(program.id()));
  program.pipes().order('m');
  CHECK(program.pipes().byte() == 'm');
  program.pipes().no_more_orders();
  CHECK(program.end().value == 19);
  CHECK_FALSE(t->wait(clock::now() + 20ms)->has_value());
}

TEST_CASE("a stopped process stays stopped over attach and detach") {
  const auto t = new_tracer();
  bystander program("restless");
  program.ready();
  ::kill(program.pid(), SIGSTOP);
  REQUIRE(comes_to(program.pid(), 'T'));
  const bool resumed = GENERATE(false, true);
  for (int i = 0; i < 3; ++i) {
    ok(t->attach(program.id()));
    CHECK(next<group_stopped>(*t).signal == SIGSTOP);
    const auto births = births_of(program.pid());
    if (resumed) {
      ok(t->resume(program.id()));
      CHECK_FALSE(t->wait(clock::now() + 10ms)->has_value());
    }
    ok(t->detach(program.id()));
    CHECK(comes_to(program.pid(), 'T'));
    CHECK(none_held(program.pid()));
    CHECK(births_of(program.pid()) == births);
  }
  ::kill(program.pid(), SIGCONT);
  program.pipes().order('m');
  CHECK(program.end().value == 15);
}

TEST_CASE("a stopped process that gets SIGCONT while it is held runs when it is let go") {
  const auto t = new_tracer();
  bystander program("restless");
  program.ready();
  ::kill(program.pid(), SIGSTOP);
  REQUIRE(comes_to(program.pid(), 'T'));
  ok(t->attach(program.id()));
  next<group_stopped>(*t);
  ::kill(program.pid(), SIGCONT);
  if (GENERATE(true, false)) {
    ok(t->resume(program.id()));
    next<group_continued>(*t);
  }
  ok(t->detach(program.id()));
  program.pipes().order('m');
  CHECK(program.end().value == 15);
}

TEST_CASE("a process can be detached stopped, and another tracer can attach to it then") {
  bystander program("restless");
  program.ready();
  const auto one = new_tracer();
  ok(one->attach(program.id()));
  ok(one->detach(program.id(), leave::stopped));
  CHECK(comes_to(program.pid(), 'T'));
  const auto other = new_tracer();
  ok(other->attach(program.id()));
  CHECK(next<group_stopped>(*other).signal == SIGSTOP);
  ok(other->detach(program.id()));
  CHECK(comes_to(program.pid(), 'T'));
  ::kill(program.pid(), SIGCONT);
  program.pipes().order('m');
  CHECK(program.end().value == 15);
}

TEST_CASE("no signal is lost, doubled, reordered or added by attaching and detaching") {
  const auto t = new_tracer();
  bystander program("signals");
  program.ready();
  constexpr int many = 300;
  for (int i = 0; i < many; ++i) {
    sigval value{};
    value.sival_int = i;
    REQUIRE(::sigqueue(program.pid(), SIGRTMIN, value) == 0);
    if (i % 10 == 0) ok(t->attach(program.id()));
    if (i % 10 == 5) ok(t->resume(program.id()));
    if (i % 10 == 9) ok(t->detach(program.id()));
  }
  program.pipes().no_more_orders();
  CHECK(program.end().value == 12);
  CHECK(program.pipes().rest() == "count 300 in order 1 from sender 300 traps 0 other 0 calls 0\n");
}

TEST_CASE(
    "interrupted system calls go on with the rest of their time, apart from those that the kernel does not restart") {
  const auto t = new_tracer();
  bystander program("blocked");
  program.ready();
  const auto until = clock::now() + 900ms;
  do {
    ok(t->attach(program.id()));
    ok(t->detach(program.id()));
  } while (clock::now() < until);
  program.pipes().order('g');
  CHECK(program.end().value == 18);
  CHECK(program.pipes().rest() ==
        "read: as ever\npoll: as ever\nppoll: as ever\nselect: as ever\nfutex: as ever\nwait4: as ever\n"
        "poll 1s: as ever\nppoll 1s: as ever\nselect 1s: as ever\nnanosleep 1s: as ever\nclock_nanosleep 1s: as ever\n"
        "futex 1s: as ever\nepoll_wait: EINTR\nsemop: EINTR\nsigtimedwait 1s: EINTR\nrecv 1s: EINTR\n");
}

TEST_CASE("code, registers and debug registers are byte for byte as before") {
  const auto kind = GENERATE(from_range(kinds));
  const auto t = new_tracer();
  bystander program("echo");
  program.ready();
  const target_address marker = address_of("echo", "marker");
  // The same way to the same place as with us.
  program.pipes().order('m');
  CHECK(program.pipes().byte() == 'm');
  REQUIRE(comes_to(program.pid(), 'S'));
  const auto before = snapshot(program.pid());
  REQUIRE(before.code.size() > 1000);
  ok(t->attach(program.id()));
  ok(t->insert_breakpoint(program.id(), marker, kind));
  ok(t->insert_breakpoint(program.id(), address_of("echo", "main"), kind));
  ok(t->resume(program.id()));
  program.pipes().order('m');
  next<breakpoint_hit>(*t);
  ok(t->resume(program.id()));
  CHECK(program.pipes().byte() == 'm');
  REQUIRE(comes_to(program.pid(), 'S'));
  if (GENERATE(true, false)) {
    ok(t->interrupt(program.id()));
    next<interrupted>(*t);
  }
  ok(t->detach(program.id()));
  REQUIRE(comes_to(program.pid(), 'S'));
  const auto after = snapshot(program.pid());
  CHECK(after.registers == before.registers);
  CHECK(after.debug_registers == before.debug_registers);
  CHECK(after.code == before.code);
}

TEST_CASE("after 500 rounds of attach, breakpoint and detach a program ends as it would have") {
  const auto t = new_tracer();
  bystander program("restless", {"8"});
  program.ready();
  const target_address marker = address_of("restless", "marker");
  ok(t->attach(program.id()));
  ok(t->detach(program.id()));
  const auto ours = open_descriptors();
  const auto theirs = numbers_in("/proc/" + std::to_string(program.pid()) + "/fd").size();
  for (int i = 0; i < 500; ++i) {
    ok(t->attach(program.id()));
    const auto kind = kinds.at(static_cast<std::size_t>(i) % kinds.size());
    ok(t->insert_breakpoint(program.id(), marker, kind));
    if (i % 3 != 0) ok(t->resume(program.id()));
    ok(t->detach(program.id()));
    if (!none_held(program.pid())) FAIL("a thread is still held after round " << i);
  }
  CHECK(open_descriptors() == ours);
  CHECK(numbers_in("/proc/" + std::to_string(program.pid()) + "/fd").size() == theirs);
  const auto births = births_of(program.pid());
  while (births_of(program.pid()) == births) continue;
  program.pipes().order('m');
  CHECK(program.end() == exit_status{false, 15, false});
  CHECK(program.pipes().rest() == "calls 9\n");
  CHECK_FALSE(t->wait(clock::now())->has_value());
}
