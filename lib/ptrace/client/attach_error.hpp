// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Explains why the kernel does not let one process trace another. The kernel answers EPERM for a dozen reasons; this
// file distinguishes them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq::tracing {

/// The credentials and capabilities of a process (credentials(7), capabilities(7)), as /proc/PID/status shows them.
struct process_rights {
  std::array<uid_t, 3> users{};   ///< real, effective, saved
  std::array<gid_t, 3> groups{};  ///< the same
  std::uint64_t permitted_capabilities = 0;
  std::uint64_t effective_capabilities = 0;
};
[[nodiscard]] std::optional<process_rights> read_rights(pid_t task);

/// The facts that the kernel checks, in its order (__ptrace_may_access, ptrace(2)).
struct refusal_facts {
  pid_t task = 0;
  std::string name;
  pid_t tracer = 0;  ///< the process that traces it; 0: no visible one
  std::string tracer_name;
  bool traced_by_us = false;
  bool kernel_thread = false;
  process_rights target;
  process_rights own;
  bool ptrace_is_denied = false;  ///< this program may not call ptrace at all
  bool dumpable = true;
  std::optional<int> yama_scope;
  std::string security_modules;             ///< their names with commas; empty if they cannot be read
  bool in_inner_process_namespace = false;  ///< this program runs in a container, and does not see every tracer
};
[[nodiscard]] refusal_facts facts_about(pid_t task);

/// Returns busy if another process traces the task, otherwise permission. The message names the remedy.
[[nodiscard]] error explain_refusal(const refusal_facts& facts);

/// The error if this pid cannot be attached to: no process has it, it is the number of a thread, or its process has
/// ended. Empty if it is a living process.
[[nodiscard]] std::optional<error> not_to_be_attached(std::int64_t process);

/// The error for a reused pid: the intended process has ended, and another one has its pid.
[[nodiscard]] error replaced_process(pid_t process);
/// The effective user of the process is not the one that was asked for (attach_target::user).
[[nodiscard]] error other_users_process(pid_t process, user_id wanted);

/// The error if /proc shows the process and the kernel's calls do not find its pid: /proc belongs to another pid
/// namespace.
[[nodiscard]] error foreign_process_folder(pid_t process);

/// Whether the task is a kernel worker among a process's threads (an io_uring worker). It executes no code of the
/// program.
[[nodiscard]] bool is_kernel_worker(pid_t task);

}  // namespace mpiacq::tracing
