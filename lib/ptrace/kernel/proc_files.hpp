// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "descriptors/unique_fd.hpp"
#include "mpiacq/base/address.hpp"
#include "mpiacq/base/error.hpp"

namespace mpiacq::tracing {

using base::unique_fd;

/// Whether the open that just failed did so because this program, or the machine, has no descriptor left (errno).
[[nodiscard]] bool no_descriptor_is_left();
/// The error for that case; `what` was tried.
[[nodiscard]] error no_descriptor_for(std::string_view what, pid_t process);

/// The contents of /proc/TASK/status (proc_pid_status(5)); 0 for a missing line.
struct task_status {
  pid_t process = 0;  ///< Tgid
  pid_t parent = 0;   ///< PPid
  pid_t tracer = 0;   ///< TracerPid: the tracing thread
  char state = '?';   ///< R, S, D, T, t, Z, X
  /// SigPnd has SIGKILL: the thread is being killed, and has not noticed yet.
  bool has_kill_pending = false;
  int threads = 0;  ///< of its process, including dead ones that were not waited for; 0 while it is being removed
};
/// Empty if there is no such task.
[[nodiscard]] std::optional<task_status> read_task_status(pid_t task);

/// Field 52 of /proc/PID/stat (proc_pid_stat(5)): the status with which the process ends, in the form of wait(2); 0
/// also if it does not end yet, or the kernel tells it only to a tool with the right to trace the process.
[[nodiscard]] int read_exit_code(pid_t process);

/// A thread whose number gives access to the process's memory: the leader, or another one if the leader has ended,
/// because a zombie has no memory. Empty if the whole process has ended, or for the reason that `no_descriptor_is_left`
/// reports.
[[nodiscard]] std::optional<pid_t> living_thread(pid_t process);

/// Whether the whole process has ended, or there is none. False if only the leader has ended; if the process is in the
/// middle of an exec, where the leader is dead until another thread takes its place; and if no descriptor is left for
/// the check.
[[nodiscard]] bool has_ended(pid_t process);

/// The threads of a process that the kernel lists now, including dead ones that were not waited for. The leader is
/// first. Empty if there is no such process.
[[nodiscard]] std::vector<pid_t> list_threads(pid_t process);

/// Whether the task is a thread of this process.
[[nodiscard]] bool is_thread_of(pid_t process, pid_t task);

/// The short name of a process for messages; "?" if the process has gone.
[[nodiscard]] std::string command_name(pid_t process);

/// kernel.yama.ptrace_scope; empty on a kernel without Yama.
[[nodiscard]] std::optional<int> yama_ptrace_scope();

/// The contents of a small file, but not more than `limit` bytes of it.
[[nodiscard]] std::optional<std::string> read_small_file(const std::string& path, std::size_t limit = 65536);

/// The entry point of the process's program (AT_ENTRY), not of its loader.
[[nodiscard]] result<target_address> program_entry(pid_t process);

/// Whether the two tasks share their memory (kcmp(2)); empty if the kernel cannot tell.
[[nodiscard]] std::optional<bool> share_memory(pid_t one, pid_t other);

}  // namespace mpiacq::tracing
