// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The floor of looking at stacks: hold, the registers and the stack of each process's first thread, release. What is
// learnt from them costs nothing here.
#pragma once

#include <vector>

#include <elf.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "bare_hold.hpp"

namespace mpiacq::bench {

inline void bare_stacks(const std::vector<pid_t>& processes, std::vector<char>& buffer) {
  bare_hold(processes);
  for (const pid_t process : processes) {
    user_regs_struct registers{};
    iovec into{&registers, sizeof registers};
    must_be(::ptrace(PTRACE_GETREGSET, process, NT_PRSTATUS, &into) == 0, "PTRACE_GETREGSET");
    const iovec here{buffer.data(), buffer.size()};
    const iovec there{reinterpret_cast<void*>(registers.rsp & ~0xfffULL), buffer.size()};
    must_be(::process_vm_readv(process, &here, 1, &there, 1, 0) > 0, "process_vm_readv");
  }
  bare_release(processes);
}

}  // namespace mpiacq::bench
