// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The end of a process, told from the end of a thread. The system call of a thread is in a register of the processor.
#include <cstring>

#include <sys/syscall.h>
#include <sys/user.h>

#include "catch.hpp"
#include "engine/endings.hpp"
#include "engine/tracee_table.hpp"
#include "fake_kernel.hpp"

using namespace mpiacq;
using namespace mpiacq::test;
using namespace mpiacq::tracing;

namespace {

constexpr unsigned long no_call = ~0UL;
constexpr unsigned long exited_with_3 = 3 << 8;

/// A process of three threads, all running.
struct ending_threads {
  ending_threads() {
    process.reports_end = true;
    for (const pid_t task : {10, 11, 12}) {
      table.add_thread(process, task);
      kernel.tasks.all[task] = task_status{.process = 10, .tracer = 1, .state = 'R', .threads = 3};
    }
  }
  /// The thread comes to its exit stop.
  void stop(pid_t task, unsigned long message, unsigned long call) {
    user_regs_struct registers{};
    registers.orig_rax = call;
    const auto bytes = std::as_bytes(std::span{&registers, 1});
    kernel.calls.register_sets[task].assign(bytes.begin(), bytes.end());
    kernel.calls.messages[task] = message;
    traced_thread& thread = process.threads[task];
    thread.state = thread_state::stopped;
    part.on_exit_stop(process, thread);
  }
  void deliver(pid_t task, int signal, int code) {
    kernel.calls.signals[task].si_signo = signal;
    kernel.calls.signals[task].si_code = code;
    part.on_signal(process, process.threads[task], signal);
  }
  [[nodiscard]] int looks_until_refuted() {
    for (int looks = 1; looks < 1000; ++looks) {
      if (part.is_refuted(process)) return looks;
    }
    return 0;
  }

  fake_kernel kernel;
  tracee_table table;
  endings part{kernel.access()};
  traced_process& process = table.make(10);
};

}  // namespace

TEST_CASE("threads that end alone are no end of their process, until the last one ends") {
  ending_threads all;
  all.kernel.tasks.exit_codes[10] = exited_with_3;
  all.stop(10, 1 << 8, SYS_exit);
  CHECK_FALSE(all.process.ending.has_value());
  all.stop(11, 2 << 8, SYS_exit);
  CHECK_FALSE(all.process.ending.has_value());
  all.stop(12, 9 << 8, SYS_exit);
  REQUIRE(endings::is_due(all.process));
  CHECK(all.process.is_stopped_but_for_late_threads());
  const process_ending end = all.part.take(all.process);
  CHECK(end.thread == thread_id{12});
  CHECK(end.status == exit_status{.signaled = false, .value = 3, .core_dumped = false});
  CHECK_FALSE(endings::is_due(all.process));
}

TEST_CASE("an end counts threads only in their exit stops, whatever has stopped them before") {
  ending_threads all;
  for (const pid_t task : {11, 12}) all.process.threads[task].state = thread_state::stopped;
  all.stop(10, exited_with_3, SYS_exit_group);
  REQUIRE(all.process.ending.has_value());
  CHECK_FALSE(all.process.is_stopped_but_for_late_threads());
  all.stop(11, exited_with_3, SYS_read);
  CHECK_FALSE(all.process.is_stopped_but_for_late_threads());
  all.stop(12, exited_with_3, SYS_exit);
  CHECK(all.process.is_stopped_but_for_late_threads());
  const process_ending end = all.part.take(all.process);
  CHECK(end.thread == thread_id{10});
  CHECK(end.status.value == 3);
}

TEST_CASE("the thread that received the signal last is the one that ended its process") {
  ending_threads all;
  all.deliver(10, SIGSEGV, SEGV_ACCERR);
  all.deliver(12, SIGSEGV, SEGV_MAPERR);
  all.deliver(11, SIGUSR1, SI_TKILL);
  for (const pid_t task : {10, 11}) all.stop(task, SIGSEGV, no_call);
  all.stop(12, SIGSEGV | 0x80, no_call);
  const process_ending end = all.part.take(all.process);
  CHECK(end.thread == thread_id{12});
  CHECK(end.signal_code == SEGV_MAPERR);
  CHECK(end.sender == process_id{});
  CHECK(end.status == exit_status{.signaled = true, .value = SIGSEGV, .core_dumped = true});
}

TEST_CASE("a signal that was handled before is not the reason of an end by SIGKILL") {
  ending_threads all;
  all.deliver(12, SIGSEGV, SEGV_MAPERR);
  for (const pid_t task : {12, 11, 10}) all.stop(task, SIGKILL, no_call);
  const process_ending end = all.part.take(all.process);
  CHECK(end.thread == thread_id{10});
  CHECK(end.status.value == SIGKILL);
  CHECK(end.signal_code == 0);
  CHECK(end.fault == target_address{});
}

TEST_CASE("a missing thread that sleeps and is not being killed refutes the end soon, and one that runs later") {
  ending_threads all;
  all.stop(11, 0, SYS_read);
  REQUIRE(all.process.ending.has_value());
  CHECK(endings::next_look(all.process) != no_deadline);
  for (const pid_t task : {10, 12}) all.kernel.tasks.all[task].has_kill_pending = true;
  CHECK(all.looks_until_refuted() == 0);
  all.kernel.tasks.all[12] = task_status{.process = 10, .state = 'D', .threads = 3};
  const int asleep = all.looks_until_refuted();
  CHECK(asleep > 1);
  all.process.ending.reset();
  all.stop(11, 0, SYS_read);
  all.kernel.tasks.all[12].state = 'R';
  CHECK(all.looks_until_refuted() > asleep);
}

TEST_CASE("nothing refutes an end that was reported, and dead threads refute none") {
  ending_threads all;
  all.stop(11, SIGKILL, no_call);
  all.kernel.tasks.all[10].state = 'Z';
  all.kernel.tasks.all.erase(12);
  CHECK(all.looks_until_refuted() == 0);
  CHECK(all.process.threads[10].zombie);
  all.kernel.tasks.all[12] = task_status{.process = 10, .state = 'S', .threads = 3};
  static_cast<void>(all.part.take(all.process));
  CHECK(all.looks_until_refuted() == 0);
  CHECK(endings::next_look(all.process) == no_deadline);
}

TEST_CASE("an end is looked for only where it is wanted, and not after a kill by the tool") {
  for (const bool killed : {false, true}) {
    ending_threads all;
    all.process.reports_end = killed;
    all.process.killed = killed;
    all.stop(10, SIGKILL, no_call);
    CHECK_FALSE(all.process.ending.has_value());
    CHECK(all.process.threads[10].end.has_value());
  }
}

TEST_CASE("the calls of a 32-bit program have numbers of their own") {
  ending_threads all;
  std::array<std::uint32_t, 17> registers{};
  const auto stop_in = [&](pid_t task, std::uint32_t call) {
    registers[11] = call;
    const auto bytes = std::as_bytes(std::span{registers});
    all.kernel.calls.register_sets[task].assign(bytes.begin(), bytes.end());
    all.part.on_exit_stop(all.process, all.process.threads[task]);
    return all.process.threads[task].end->by;
  };
  CHECK(stop_in(10, 1) == arch::exit_call::exit);
  CHECK_FALSE(all.process.ending.has_value());
  CHECK(stop_in(11, 252) == arch::exit_call::exit_group);
  CHECK(all.process.ending.has_value());
  CHECK(stop_in(12, SYS_exit_group) == arch::exit_call::none);
}
