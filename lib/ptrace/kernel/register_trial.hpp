// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/ptrace_call.hpp"

namespace mpiacq::tracing {

/// Whether a breakpoint register stops a thread on this machine. In some virtual machines the kernel accepts a
/// breakpoint, shows it in the registers, and the processor runs over it. A child process of this program runs over a
/// breakpoint, once: later calls return the same answer. True if the trial itself fails.
/// Threads: the one that `calls` belong to.
[[nodiscard]] bool breakpoint_registers_stop_threads(const ptrace_calls& calls);

}  // namespace mpiacq::tracing
