// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "mpiacq/process/tracer.hpp"

namespace mpiacq::tracing {

/// What waitpid reports of a thread that was attached with PTRACE_SEIZE (ptrace(2)). The raw status is decoded once.

/// The thread has ended, or its whole process has if the thread is the leader.
struct ended {
  exit_status status;
};
/// Signal-delivery-stop: a signal is about to be delivered to the thread. The tracer decides whether it is delivered.
struct signal_stop {
  int signal = 0;
};
/// PTRACE_EVENT_STOP without a stop signal: the answer to PTRACE_INTERRUPT, the first stop of a new thread, or the end
/// of a group stop.
struct trap_stop {};
/// PTRACE_EVENT_STOP in a group stop: this signal has stopped the whole process.
struct group_stop {
  int signal = 0;
};
/// The process has become a new program.
struct exec_stop {};
/// The thread has created another task.
struct birth_stop {
  enum class how : std::uint8_t { clone, fork, vfork };
  how by = how::clone;
};
/// The child of the thread's vfork has left the shared memory.
struct vfork_done_stop {};
/// Exit stop: the thread ends, by itself or with its process. Its registers and memory are still there.
struct exit_stop {};
/// A stop of a kind that the tracer has not asked for.
struct other_stop {};

using wait_status = std::variant<ended, signal_stop, trap_stop, group_stop, exec_stop, birth_stop, vfork_done_stop,
                                 exit_stop, other_stop>;

/// The form of wait(2) and of the event message of an exit stop.
[[nodiscard]] exit_status decode_exit_status(int raw);
[[nodiscard]] wait_status decode_wait_status(int raw);

}  // namespace mpiacq::tracing
