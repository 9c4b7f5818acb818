// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "kernel/pending_trap.hpp"

#include <array>
#include <csignal>

#include <sys/ptrace.h>

#include "kernel/ptrace_arch.hpp"

namespace mpiacq::tracing {

namespace {

constexpr std::size_t at_a_time = 8;
// A longer queue consists of the program's own real-time signals.
constexpr std::size_t most_looked_at = 65536;

bool is_of_a_breakpoint(const siginfo_t& info) {
  if (info.si_signo != SIGTRAP) return false;
  return arch::is_hardware_hit(info.si_code) || arch::is_trap_instruction(info.si_code) ||
         arch::is_step_end(info.si_code);
}

}  // namespace

bool trap_is_pending(const ptrace_calls& calls, pid_t thread) {
  std::array<siginfo_t, at_a_time> queue{};
  for (std::size_t from = 0; from < most_looked_at; from += queue.size()) {
    const __ptrace_peeksiginfo_args which{from, 0, static_cast<std::int32_t>(queue.size())};
    const long got = calls.raw(PTRACE_PEEKSIGINFO, thread, reinterpret_cast<unsigned long>(&which),
                               reinterpret_cast<unsigned long>(queue.data()));
    for (long i = 0; i < got; ++i) {
      if (is_of_a_breakpoint(queue[static_cast<std::size_t>(i)])) return true;
    }
    if (got < static_cast<long>(queue.size())) return false;
  }
  return false;
}

}  // namespace mpiacq::tracing
