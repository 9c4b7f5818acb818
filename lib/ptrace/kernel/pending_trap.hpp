// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include "kernel/ptrace_call.hpp"

namespace mpiacq::tracing {

/// Whether such a SIGTRAP is pending: a thread that is interrupted just as it runs onto a breakpoint reports
/// PTRACE_EVENT_STOP first, and keeps the SIGTRAP in its queue. After a detach, that signal would kill the process.
/// Continued without a signal, the thread reports the SIGTRAP before it executes an instruction. Neither allocates nor
/// locks.
[[nodiscard]] bool trap_is_pending(const ptrace_calls& calls, pid_t thread);

}  // namespace mpiacq::tracing
