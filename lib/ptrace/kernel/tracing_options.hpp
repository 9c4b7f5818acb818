// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernel/kernel_ptrace.hpp"

namespace mpiacq::tracing {

/// Always set: new threads come attached, and each exec is reported.
inline constexpr unsigned long base_options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
/// Set while children are followed, or while a software breakpoint is in the process.
inline constexpr unsigned long fork_options = PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE;

}  // namespace mpiacq::tracing
