// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "client/attach_error.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>

#include "descriptors/unique_fd.hpp"
#include "kernel/proc_files.hpp"
#include "mpiacq/process/process_user.hpp"
#include "mpiacq/process/tracer.hpp"
#include "proc/pid_namespace.hpp"

namespace mpiacq::tracing {

namespace {

constexpr std::uint64_t trace_anybody = std::uint64_t{1} << 19;  // CAP_SYS_PTRACE, capabilities(7)

std::string subject(const refusal_facts& facts) {
  return fmt::format("attach to {} ({}): not permitted: ", facts.task, facts.name);
}

/// The kernel compares the real ids of the tracer with all three ids of the tracee.
template <class Ids>
bool all_are(const Ids& ids, typename Ids::value_type id) {
  return std::all_of(ids.begin(), ids.end(), [&](auto each) { return each == id; });
}

std::string already_traced(const refusal_facts& facts) {
  if (facts.traced_by_us) {
    return fmt::format("attach to {} ({}): this program traces it already, by another tracer", facts.task, facts.name);
  }
  return fmt::format("attach to {} ({}): process {} ({}) traces it already; end that first", facts.task, facts.name,
                     facts.tracer, facts.tracer_name);
}

std::string why_other_user(const refusal_facts& facts) {
  const auto& target = facts.target;
  if (!all_are(target.users, target.users[0]) || !all_are(target.groups, target.groups[0])) {
    return fmt::format(
        "it runs with the rights of more than one user or group (set-user-ID: users {}/{}/{}, groups {}/{}/{}); only "
        "root may trace it",
        target.users[0], target.users[1], target.users[2], target.groups[0], target.groups[1], target.groups[2]);
  }
  if (target.users[0] != facts.own.users[0]) {
    return fmt::format("it belongs to user {}, and this program runs as user {}; run it as that user, or with sudo",
                       target.users[0], facts.own.users[0]);
  }
  return fmt::format(
      "it runs under group {}, and this program under group {}; run it under that one (newgrp), or "
      "with sudo",
      target.groups[0], facts.own.groups[0]);
}

std::string why_yama(int scope) {
  switch (scope) {
    case 1:
      return "kernel.yama.ptrace_scope is 1: a program may trace only what it has started itself; use sudo, or let "
             "this tool launch the job, or have the administrator allow it (sudo sysctl kernel.yama.ptrace_scope=0)";
    case 2:
      return "kernel.yama.ptrace_scope is 2: only root may trace; use sudo, or have the administrator allow it "
             "(sudo sysctl kernel.yama.ptrace_scope=0)";
    default:
      return fmt::format(
          "kernel.yama.ptrace_scope is {}: nobody may trace, root neither, until the machine is started anew with "
          "another setting",
          scope);
  }
}

std::string why_policy(const refusal_facts& facts) {
  std::string text = "a security policy forbids it";
  if (!facts.security_modules.empty()) text += fmt::format(" (security modules here: {})", facts.security_modules);
  text += ", or it belongs to a user namespace in which this program has no rights (a container's outside)";
  if (facts.in_inner_process_namespace) text += ", or somebody outside this container traces it already";
  return text;
}

std::string why_not_permitted(const refusal_facts& facts) {
  const auto& own = facts.own;
  const auto& target = facts.target;
  if (facts.kernel_thread) return "it is a thread of the kernel, and runs no program";
  if (facts.ptrace_is_denied) {
    return "this program may not use ptrace at all, of whatever process; a container's or sandbox's filter of system "
           "calls (seccomp) denies it (docker and podman: --cap-add=SYS_PTRACE)";
  }
  constexpr int nobody_may = 3;
  if (facts.yama_scope.value_or(0) >= nobody_may) return why_yama(*facts.yama_scope);
  if ((own.effective_capabilities & trace_anybody) != 0) return why_policy(facts);
  if (!all_are(target.users, own.users[0]) || !all_are(target.groups, own.groups[0])) return why_other_user(facts);
  if (!facts.dumpable) {
    return "it is closed to tools of its own user (not dumpable: it came from a file that may be run but not read or "
           "gives rights of its own, or has asked for it with PR_SET_DUMPABLE); use sudo";
  }
  if (const auto more = target.permitted_capabilities & ~own.permitted_capabilities; more != 0) {
    return fmt::format("it has capabilities that this program has not ({:#x}; getpcaps {}); use sudo", more,
                       facts.task);
  }
  if (facts.yama_scope.value_or(0) != 0) return why_yama(*facts.yama_scope);
  return why_policy(facts);
}

}  // namespace

error explain_refusal(const refusal_facts& facts) {
  if (facts.tracer != 0) return error{error_code::busy, already_traced(facts)};
  return error{error_code::permission, subject(facts) + why_not_permitted(facts)};
}

std::optional<error> not_to_be_attached(std::int64_t process) {
  const auto task = static_cast<pid_t>(process);
  errno = 0;
  const auto about = task > 0 && task == process ? read_task_status(task) : std::nullopt;
  if (!about && no_descriptor_is_left()) return no_descriptor_for("attaching: looking at /proc", task);
  if (!about) {
    std::string message = fmt::format("attach to {}: there is no such process", process);
    if (in_inner_process_namespace()) message += " in this container, whose numbers are not those outside";
    return error{error_code::not_found, std::move(message)}.with_errno(ESRCH);
  }
  if (about->process != task) {
    return error{error_code::not_found,
                 fmt::format("attach to {0}: that is a thread of process {1} ({2}), no process; attach to {1}", task,
                             about->process, command_name(about->process))};
  }
  if (has_ended(task)) {
    return error{error_code::process_gone,
                 fmt::format("attach to {} ({}): it has ended already, and its parent {} ({}) has not asked how", task,
                             command_name(task), about->parent, command_name(about->parent))};
  }
  return std::nullopt;
}

error replaced_process(pid_t process) {
  return {error_code::process_gone,
          fmt::format("attach to {}: the process that was meant has ended, and the number is another one's now ({}), "
                      "which is left alone",
                      process, command_name(process))};
}

error other_users_process(pid_t process, user_id wanted) {
  const auto users = users_of(process_id{process});
  if (!users) return users.error();
  // If the process has its user again by now, it belonged to another user for a moment.
  auto why = why_no_rank(process_id{process}, *users, wanted);
  return why ? std::move(*why)
             : error{error_code::permission,
                     fmt::format("process {} ran with the rights of another user a moment ago", process)};
}

error foreign_process_folder(pid_t process) {
  return error{error_code::not_found,
               fmt::format("attach to {} ({}): /proc shows it, but that /proc is of another process namespace, where "
                           "numbers are others; run the tool in the container of the job, or outside of this one",
                           process, command_name(process))}
      .with_errno(ESRCH);
}

}  // namespace mpiacq::tracing

namespace mpiacq {

std::optional<error> why_no_access(process_id process) {
  // Opening this file needs the same rights as ptrace(2), and has no effect on the process.
  const base::unique_fd memory{::open(fmt::format("/proc/{}/mem", process.value()).c_str(), O_RDONLY | O_CLOEXEC)};
  const bool is_refused = !memory && (errno == EACCES || errno == EPERM);
  auto facts = tracing::facts_about(static_cast<pid_t>(process.value()));
  if (!is_refused && !facts.ptrace_is_denied) return std::nullopt;
  facts.tracer = 0;  // another tracer does not prevent this program from reading
  return tracing::explain_refusal(facts);
}

}  // namespace mpiacq
