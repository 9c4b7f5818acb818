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

/// What could not be opened just now could not because this program, or the machine, has no descriptor left: errno.
[[nodiscard]] bool no_descriptor_is_left();
/// That as an error: `what` was tried.
[[nodiscard]] error no_descriptor_for(std::string_view what, pid_t process);

/// What /proc/TASK/status says (proc_pid_status(5)); 0 where a line is missing.
struct task_status {
  pid_t process = 0;  ///< Tgid
  pid_t parent = 0;   ///< PPid
  pid_t tracer = 0;   ///< TracerPid: the tracing thread
  char state = '?';   ///< R, S, D, T, t, Z, X
  int threads = 0;    ///< of its process, including dead ones that were not waited for; 0 where it is going
};
/// Empty where there is no such task.
[[nodiscard]] std::optional<task_status> read_task_status(pid_t task);

/// A thread that can stand for the process where memory is read by number: the leader, or another one where the leader
/// has ended, because a zombie has no memory any more. Empty where the whole process has ended, or where
/// `no_descriptor_is_left` says why.
[[nodiscard]] std::optional<pid_t> living_thread(pid_t process);

/// The process has ended, all of it, or is not there. One whose leader alone has ended has not; nor one in the middle
/// of an exec, where the leader is dead until another thread takes its place; nor one that cannot be looked at because
/// no descriptor is left.
[[nodiscard]] bool has_ended(pid_t process);

/// The threads of a process that the kernel lists at this moment, including dead ones that were not waited for. The
/// leader is first. Empty where there is no such process.
[[nodiscard]] std::vector<pid_t> list_threads(pid_t process);

/// The task is a thread of this process.
[[nodiscard]] bool is_thread_of(pid_t process, pid_t task);

/// The short name of a process for messages; "?" where it has gone.
[[nodiscard]] std::string command_name(pid_t process);

/// kernel.yama.ptrace_scope; empty on a kernel without Yama.
[[nodiscard]] std::optional<int> yama_ptrace_scope();

/// A small file, whole, but not more than `limit` bytes of it.
[[nodiscard]] std::optional<std::string> read_small_file(const std::string& path, std::size_t limit = 65536);

/// Where the program of this process begins (AT_ENTRY): in the executable, not in its loader.
[[nodiscard]] result<target_address> program_entry(pid_t process);

/// The two tasks share their memory (kcmp(2)); empty where the kernel cannot say.
[[nodiscard]] std::optional<bool> share_memory(pid_t one, pid_t other);

}  // namespace mpiacq::tracing
