// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "kernel/register_trial.hpp"

#include <cerrno>
#include <csignal>
#include <optional>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/kernel_ptrace.hpp"
#include "kernel/ptrace_arch.hpp"

namespace mpiacq::tracing {

namespace {

/// What the child runs over.
[[gnu::noinline]] void landing() {
  asm volatile("");
}

constexpr unsigned longest_trial = 5;  // seconds, after which the kernel stops the child in any case

[[noreturn]] void run_over_breakpoint() {
  ::alarm(longest_trial);
  if (::syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0) != 0) ::_exit(1);
  ::raise(SIGSTOP);
  landing();
  ::_exit(0);
}

/// The signal that the child has stopped with; empty if it has ended.
std::optional<int> next_stop_of(pid_t child) {
  int status = 0;
  pid_t got = 0;
  do {
    got = ::waitpid(child, &status, __WALL);
  } while (got < 0 && errno == EINTR);
  if (got != child || !WIFSTOPPED(status)) return std::nullopt;
  return WSTOPSIG(status);
}

void end(pid_t stopped_child) {
  ::kill(stopped_child, SIGKILL);
  while (next_stop_of(stopped_child)) {
  }
}

/// Sets the breakpoint in the stopped child, and lets it run. False: the kernel refuses that.
bool is_on_its_way(const ptrace_calls& calls, pid_t child) {
  arch::hardware_table one;
  one.front() = arch::hardware_trigger{target_address{reinterpret_cast<std::uintptr_t>(&landing)}};
  return arch::set_hardware(calls, child, one) && calls.resume(child, 0);
}

bool try_registers(const ptrace_calls& calls) {
  const pid_t child = ::fork();
  if (child == 0) run_over_breakpoint();
  if (child < 0 || !next_stop_of(child)) return true;
  const bool is_refused = !is_on_its_way(calls, child);
  const auto stop = is_refused ? SIGSTOP : next_stop_of(child);
  if (stop) end(child);
  return is_refused || stop == SIGTRAP;
}

}  // namespace

bool breakpoint_registers_stop_threads(const ptrace_calls& calls) {
  static const bool they_do = try_registers(calls);
  return they_do;
}

}  // namespace mpiacq::tracing
