// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "mpiacq/process/tracer.hpp"

namespace mpiacq::tracing {

/// What waitpid said of a thread that was SEIZEd (ptrace(2)), decoded once. The raw number goes no further.

/// It ended, or its whole process did where it is the leader.
struct ended {
  exit_status status;
};
/// Signal-delivery-stop: a signal is about to be delivered to it; the tracer may pass it on or not.
struct signal_stop {
  int signal = 0;
};
/// PTRACE_EVENT_STOP that no stop signal is behind: the answer to INTERRUPT, the first stop of a new thread, or the end
/// of a group stop.
struct trap_stop {};
/// PTRACE_EVENT_STOP in a group stop: the whole process was stopped by this signal.
struct group_stop {
  int signal = 0;
};
/// It has become a new program.
struct exec_stop {};
/// It has created another task.
struct birth_stop {
  enum class how : std::uint8_t { clone, fork, vfork };
  how by = how::clone;
};
/// The child of its vfork has left the shared memory.
struct vfork_done_stop {};
/// A stop of a kind that is not asked for.
struct other_stop {};

using wait_status =
    std::variant<ended, signal_stop, trap_stop, group_stop, exec_stop, birth_stop, vfork_done_stop, other_stop>;

[[nodiscard]] wait_status decode_wait_status(int raw);

}  // namespace mpiacq::tracing
