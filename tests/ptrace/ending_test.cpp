// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The tracer reports a process just before it ends. What the process has told of its threads, and what its parent was
// told of its end, is what these tests believe.
#include <csignal>
#include <filesystem>

#include <sys/resource.h>
#include <unistd.h>

#include "ending_program.hpp"

using namespace mpiacq;
using namespace mpiacq::test;

namespace {

struct way {
  const char* name;
  exit_status status;
};

/// The program ends in this way. Returns what was told just before.
process_ending check_way(tracer& t, const way& one, std::size_t least_threads = 1) {
  INFO(one.name);
  bystander program("ways_to_end", {one.name});
  program.ready();
  attach_and_run(t, program);
  program.pipes().order('g');
  const thread_id by = told_thread(program);
  const auto end = next<process_ending>(t);
  CHECK(end.status == one.status);
  CHECK(end.thread == by);
  check_memory(program.id());
  const auto registers = registers_of(t, program.id());
  CHECK(has_thread(registers, by));
  CHECK(registers.size() >= least_threads);
  ok(t.resume(program.id()));
  CHECK(next<process_ended>(t).status == one.status);
  CHECK(program.end() == one.status);
  check_silence(t);
  return end;
}

}  // namespace

TEST_CASE("a process that exits is reported before its end, with its code and the thread that ends it") {
  const auto t = new_tracer();
  for (const auto& [one, threads] : {std::pair{way{"return", exited(7)}, 3},
                                     {way{"exit", exited(8)}, 1},
                                     {way{"quick", exited(0)}, 1},
                                     {way{"thread_exit", exited(10)}, 2},
                                     {way{"main_gone", exited(11)}, 1},
                                     {way{"alone", exited(12)}, 1},
                                     {way{"many", exited(10)}, 53},
                                     {way{"vfork", exited(17)}, 1},
                                     {way{"storm", exited(20)}, 3}}) {
    const auto end = check_way(*t, one, static_cast<std::size_t>(threads));
    CHECK(end.signal_code == 0);
    CHECK(end.sender == process_id{});
    CHECK(end.fault == target_address{});
  }
}

TEST_CASE("a process that a fault ends is reported with the fault and the thread that made it") {
  const auto t = new_tracer();
  for (const char* name : {"fault", "thread_fault"}) {
    const auto end = check_way(*t, {name, signaled(SIGSEGV)});
    CHECK(end.signal_code == SEGV_MAPERR);
    CHECK(end.fault == target_address{0x10});
    CHECK(end.sender == process_id{});
  }
#ifdef __x86_64__
  const auto end = check_way(*t, {"divide", signaled(SIGFPE)});
  CHECK(end.signal_code == FPE_INTDIV);
  CHECK(end.fault != target_address{});
#endif
}

TEST_CASE("a process that ends itself by a signal is reported as its sender") {
  const auto t = new_tracer();
  for (const auto& one : {way{"abort", signaled(SIGABRT)}, way{"terminate", signaled(SIGTERM)}}) {
    bystander program("ways_to_end", {one.name});
    program.ready();
    attach_and_run(*t, program);
    program.pipes().order('g');
    CHECK(told_thread(program).value() == program.pid());
    const auto end = next<process_ending>(*t);
    CHECK(end.status == one.status);
    CHECK(end.thread.value() == program.pid());
    CHECK(end.signal_code == SI_TKILL);
    CHECK(end.sender == program.id());
    CHECK(end.fault == target_address{});
    ok(t->resume(program.id()));
    CHECK(next<process_ended>(*t).status == one.status);
    CHECK(program.end() == one.status);
  }
}

TEST_CASE("a process that another one ends is reported with the sender of the signal, which SIGKILL does not have") {
  const auto t = new_tracer();
  for (const int signal : {SIGTERM, SIGSEGV, SIGKILL}) {
    INFO(signal);
    bystander program("ways_to_end", {"wait"});
    program.ready();
    attach_and_run(*t, program);
    program.pipes().order('g');
    told_thread(program);
    ::kill(program.pid(), signal);
    const auto end = next<process_ending>(*t);
    CHECK(end.status == signaled(signal));
    CHECK(end.signal_code == SI_USER);
    CHECK(end.sender == (signal == SIGKILL ? process_id{} : process_id{::getpid()}));
    CHECK(end.fault == target_address{});
    check_memory(program.id());
    CHECK(registers_of(*t, program.id()).size() == 2);
    ok(t->resume(program.id()));
    CHECK(next<process_ended>(*t).status == signaled(signal));
    CHECK(program.end() == signaled(signal));
    check_silence(*t);
  }
}

TEST_CASE("the last thread ends its process also if it ends only itself, with the status that the kernel gives") {
  const auto t = new_tracer();
  bystander program("ways_to_end", {"last_bare"});
  program.ready();
  REQUIRE(comes_to(program.pid(), 'Z'));
  attach_and_run(*t, program);
  program.pipes().order('g');
  const thread_id by = told_thread(program);
  const auto end = next<process_ending>(*t);
  CHECK(end.thread == by);
  ok(t->resume(program.id()));
  CHECK(program.end() == end.status);
  CHECK(next<process_ended>(*t).status.signaled == false);
  check_silence(*t);
}

TEST_CASE("an exec in a second thread is no end of its process") {
  const auto t = new_tracer();
  for (int round = 0; round < 20; ++round) {
    bystander program("ways_to_end", {"thread_exec"});
    program.ready();
    attach_and_run(*t, program);
    program.pipes().order('g');
    next<entry_reached>(*t);
    ok(t->resume(program.id()));
    program.ready();
    program.pipes().order('g');
    CHECK(told_thread(program).value() == program.pid());
    const auto end = next<process_ending>(*t);
    CHECK(end.status == exited(13));
    CHECK(end.thread.value() == program.pid());
    ok(t->resume(program.id()));
    CHECK(next<process_ended>(*t).status == exited(13));
    CHECK(program.end() == exited(13));
  }
}

TEST_CASE("a thread that a filter of system calls ends alone is no end of its process") {
  const auto t = new_tracer();
  bystander program("ways_to_end", {"filter"});
  program.ready();
  attach_and_run(*t, program);
  program.pipes().order('g');
  const std::string line = program.pipes().line();
  if (line == "no filter") MPIACQ_SKIP("the kernel takes no filter of system calls");
  CHECK(line == "by " + std::to_string(program.pid()));
  CHECK(next<process_ending>(*t).status == exited(18));
  ok(t->resume(program.id()));
  CHECK(next<process_ended>(*t).status == exited(18));
  CHECK(program.end() == exited(18));
}

TEST_CASE("an end that was not asked for is not reported") {
  const auto t = new_tracer();
  for (const auto& one : {way{"return", exited(7)}, way{"fault", signaled(SIGSEGV)}, way{"many", exited(10)}}) {
    bystander program("ways_to_end", {one.name});
    program.ready();
    ok(t->attach(program.id()));
    ok(t->resume(program.id()));
    program.pipes().order('g');
    CHECK(next<process_ended>(*t).status == one.status);
    CHECK(program.end() == one.status);
  }
}

TEST_CASE("a core file of the kernel is written before the end is reported") {
  const auto t = new_tracer();
  std::string folder = std::filesystem::temp_directory_path() / "ending_XXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  bystander program("ways_to_end", {"thread_fault", "core"}, [&] {
    const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
    if (::chdir(folder.c_str()) != 0 || ::setrlimit(RLIMIT_CORE, &all) != 0) ::_exit(99);
  });
  program.ready();
  attach_and_run(*t, program);
  program.pipes().order('g');
  const thread_id by = told_thread(program);
  const auto end = next<process_ending>(*t);
  const bool has_file = !std::filesystem::is_empty(folder);
  CHECK(end.thread == by);
  CHECK(end.fault == target_address{0x10});
  check_memory(program.id());
  ok(t->resume(program.id()));
  CHECK(next<process_ended>(*t).status == end.status);
  const exit_status told = program.end();
  std::filesystem::remove_all(folder);
  CHECK(told == end.status);
  if (!told.core_dumped || !has_file) MPIACQ_SKIP("the kernel puts no core file into the folder of a process here");
}

TEST_CASE("a followed child is reported before its end, also while it runs in the memory of its parent") {
  const auto t = new_tracer();
  bystander program("ways_to_end", {"vfork"});
  program.ready();
  ok(t->attach(program.id(), {.follow_children = true, .report_end = true}));
  ok(t->resume(program.id()));
  program.pipes().order('g');
  const auto birth = next_event(*t);
  REQUIRE(std::holds_alternative<process_born>(birth.what));
  CHECK(std::get<process_born>(birth.what).shares_memory);
  ok(t->resume(birth.process));
  const auto childs = next_event(*t);
  CHECK(childs.process == birth.process);
  REQUIRE(std::holds_alternative<process_ending>(childs.what));
  CHECK(std::get<process_ending>(childs.what).status == exited(3));
  CHECK(std::get<process_ending>(childs.what).thread.value() == birth.process.value());
  ok(t->resume(birth.process));
  const auto gone = next_event(*t);
  CHECK(gone.process == birth.process);
  CHECK(std::holds_alternative<process_ended>(gone.what));
  CHECK(told_thread(program).value() == program.pid());
  const auto end = next_event(*t);
  CHECK(end.process == program.id());
  REQUIRE(std::holds_alternative<process_ending>(end.what));
  CHECK(std::get<process_ending>(end.what).status == exited(17));
  ok(t->resume(program.id()));
  CHECK(next<process_ended>(*t).status == exited(17));
  CHECK(program.end() == exited(17));
}

TEST_CASE("the end of a 32-bit program is reported like that of any other, with its own form of the registers") {
  constexpr const char* name = "ways_to_end_32";
  if (!std::filesystem::exists(program_path(name))) MPIACQ_SKIP("no 32-bit programs are built or run here");
  const auto t = new_tracer();
  for (const auto& one : {way{"return", exited(7)}, way{"alone", exited(12)}, way{"thread_exit", exited(10)},
                          way{"thread_fault", signaled(SIGSEGV)}, way{"terminate", signaled(SIGTERM)}}) {
    INFO(one.name);
    bystander program(name, {one.name});
    program.ready();
    attach_and_run(*t, program);
    program.pipes().order('g');
    const thread_id by = told_thread(program);
    const auto end = next<process_ending>(*t);
    CHECK(end.status == one.status);
    CHECK(end.thread == by);
    CHECK(end.fault == target_address{one.status == signaled(SIGSEGV) ? 0x10U : 0U});
    CHECK(end.sender == (one.status == signaled(SIGTERM) ? program.id() : process_id{}));
    const auto registers = registers_of(*t, program.id());
    CHECK(has_thread(registers, by));
    for (const thread_registers& thread : registers) CHECK(thread.prstatus_registers.size() == 17 * 4);
    ok(t->resume(program.id()));
    CHECK(next<process_ended>(*t).status == one.status);
    CHECK(program.end() == one.status);
  }
}
