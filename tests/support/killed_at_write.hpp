// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Kills a program right before one of its changes to other processes.
#pragma once

#include <csignal>
#include <functional>

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "run_command.hpp"

namespace mpiacq::test {

/// Runs in the new process before the program, so that killed_at_write() of its parent can control it.
inline void ask_to_be_driven() {
  ::ptrace(PTRACE_TRACEME, 0, 0, 0);
}

/// System calls by which mpiacq changes another process, or asks its tracer server to.
inline bool is_write_to_others(unsigned long long number) {
  return number == SYS_process_vm_writev || number == SYS_pwrite64 || number == SYS_sendmsg;
}

/// Continues a program that was made with ask_to_be_driven(), and kills it when its first thread enters the call of
/// that kind with index `which` (0: the first), after `before` has looked at what it has done so far. Returns false if
/// the program has ended before.
inline bool killed_at_write(pid_t program, int which, const std::function<void()>& before = {}) {
  int status = 0;
  if (::waitpid(program, &status, 0) != program || !WIFSTOPPED(status)) return false;
  ::ptrace(PTRACE_SETOPTIONS, program, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  for (int signal = 0;;) {
    if (::ptrace(PTRACE_SYSCALL, program, 0, signal) != 0) return false;
    // The caller waits for the program's end.
    siginfo_t news{};
    if (::waitid(P_PID, static_cast<id_t>(program), &news, WEXITED | WSTOPPED | WNOWAIT) != 0) return false;
    if (news.si_code != CLD_TRAPPED) return false;
    if (::waitpid(program, &status, 0) != program) return false;
    signal = WSTOPSIG(status);
    if (signal == SIGTRAP) signal = 0;  // its exec
    if (signal != (SIGTRAP | 0x80)) continue;
    signal = 0;
    __ptrace_syscall_info call{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, program, sizeof call, &call) <= 0) return false;
    if (call.op != PTRACE_SYSCALL_INFO_ENTRY || !is_write_to_others(call.entry.nr)) continue;
    if (which-- > 0) continue;
    if (before) before();
    ::kill(program, SIGKILL);
    return true;
  }
}

}  // namespace mpiacq::test
