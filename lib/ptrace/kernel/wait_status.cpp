// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "kernel/wait_status.hpp"

#include <csignal>

#include <sys/wait.h>

#include "kernel/kernel_ptrace.hpp"

namespace mpiacq::tracing {

exit_status decode_exit_status(int raw) {
  if (WIFSIGNALED(raw)) return {.signaled = true, .value = WTERMSIG(raw), .core_dumped = WCOREDUMP(raw) != 0};
  return {.signaled = false, .value = WEXITSTATUS(raw), .core_dumped = false};
}

wait_status decode_wait_status(int raw) {
  if (WIFEXITED(raw) || WIFSIGNALED(raw)) return ended{decode_exit_status(raw)};
  if (!WIFSTOPPED(raw)) return other_stop{};
  const int signal = WSTOPSIG(raw);
  switch (raw >> 16) {
    case 0:
      return signal_stop{signal};
    case PTRACE_EVENT_STOP:
      if (signal == SIGTRAP) return trap_stop{};
      return group_stop{signal};
    case PTRACE_EVENT_EXEC:
      return exec_stop{};
    case PTRACE_EVENT_CLONE:
      return birth_stop{birth_stop::how::clone};
    case PTRACE_EVENT_FORK:
      return birth_stop{birth_stop::how::fork};
    case PTRACE_EVENT_VFORK:
      return birth_stop{birth_stop::how::vfork};
    case PTRACE_EVENT_VFORK_DONE:
      return vfork_done_stop{};
    case PTRACE_EVENT_EXIT:
      return exit_stop{};
    default:
      return other_stop{};
  }
}

}  // namespace mpiacq::tracing
