// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Why the kernel does not let one process trace another. It answers EPERM for a dozen reasons; this file distinguishes
// them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"

namespace mpiacq::tracing {

/// What a process may do, and who may trace it (credentials(7), capabilities(7)), as /proc/PID/status shows it.
struct process_rights {
  std::array<uid_t, 3> users{};   ///< real, effective, saved
  std::array<gid_t, 3> groups{};  ///< the same
  std::uint64_t permitted_capabilities = 0;
  std::uint64_t effective_capabilities = 0;
};
[[nodiscard]] std::optional<process_rights> read_rights(pid_t task);

/// All that the kernel looks at, in the order in which it does (__ptrace_may_access, ptrace(2)).
struct refusal_facts {
  pid_t task = 0;
  std::string name;
  pid_t tracer = 0;  ///< the process that traces it; 0: none that can be seen from here
  std::string tracer_name;
  bool traced_by_us = false;
  bool kernel_thread = false;
  process_rights target;
  process_rights own;
  bool ptrace_is_denied = false;  ///< to this program, for every process
  bool dumpable = true;
  std::optional<int> yama_scope;
  std::string security_modules;             ///< their names with commas; empty where they cannot be read
  bool in_inner_process_namespace = false;  ///< this program runs in a container, and does not see every tracer
};
[[nodiscard]] refusal_facts facts_about(pid_t task);

/// Gives busy if another process traces the task, else permission, with a sentence that says what to do.
[[nodiscard]] error explain_refusal(const refusal_facts& facts);

/// There is no process of this number, or it is not one to attach to: the number of a thread, or of a process that has
/// ended. Empty where it is a living process.
[[nodiscard]] std::optional<error> not_to_be_attached(std::int64_t process);

/// The process that was meant has ended, and another one has its number.
[[nodiscard]] error replaced_process(pid_t process);
/// The effective user of the process is not the one that was asked for (attach_target::user).
[[nodiscard]] error other_users_process(pid_t process, user_id wanted);

/// The process is in /proc, but the kernel knows no such number.
[[nodiscard]] error foreign_process_folder(pid_t process);

/// A task of the kernel's own among a process's threads (an io_uring worker): it runs nothing of the program.
[[nodiscard]] bool is_kernel_worker(pid_t task);

}  // namespace mpiacq::tracing
