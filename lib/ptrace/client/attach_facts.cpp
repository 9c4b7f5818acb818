// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Reads from /proc the facts about two processes of which one may not trace the other.
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/attach_error.hpp"
#include "kernel/proc_files.hpp"
#include "proc/pid_namespace.hpp"
#include "proc/process_state.hpp"

namespace mpiacq::tracing {

namespace {

// include/linux/sched.h; the flags are the ninth field of /proc/PID/stat.
constexpr std::uint64_t is_worker_of_io = 0x10;
constexpr std::uint64_t is_user_worker = 0x4000;
constexpr std::uint64_t is_of_the_kernel = 0x200000;

/// Reads up to three numbers of a line: the real, effective and saved ids.
template <class Id>
void read_ids(std::string_view status, std::string_view name, std::array<Id, 3>& ids) {
  auto line = status_line(status, name).value_or("");
  for (Id& id : ids) id = static_cast<Id>(take_number(line).value_or(0));
}

std::uint64_t capability_set(std::string_view status, std::string_view name) {
  const auto line = status_line(status, name).value_or("");
  std::uint64_t set = 0;
  std::from_chars(line.data(), line.data() + line.size(), set, 16);
  return set;
}

std::uint64_t flags_of(pid_t task) {
  const auto stat = stat_of(process_id{task});
  return stat ? stat->flags : 0;
}

/// The kernel shows the files of a process that is not dumpable as root's own.
bool is_dumpable(pid_t task, const process_rights& rights) {
  struct stat about {};
  if (::stat(fmt::format("/proc/{}/status", task).c_str(), &about) != 0) return true;
  return about.st_uid == rights.users[1];
}

/// Tests ptrace with an impossible pid. The kernel must answer that there is no such process; any other answer comes
/// from a system call filter.
bool ptrace_is_denied() {
  constexpr pid_t nobody = -1;
  return ::ptrace(PTRACE_SEIZE, nobody, 0, 0) != 0 && errno != ESRCH;
}

/// The tool of a tracer server of this library, from its arguments: "tracer", "of", and the tool's pid
/// (tracer_client.cpp).
std::optional<pid_t> tool_of(pid_t tracer_client) {
  constexpr std::string_view name{"tracer\0of\0", 10};
  const auto arguments = read_small_file(fmt::format("/proc/{}/cmdline", tracer_client));
  if (!arguments || !arguments->starts_with(name)) return std::nullopt;
  const long tool = std::strtol(arguments->c_str() + name.size(), nullptr, 10);
  return tool > 0 ? std::optional{static_cast<pid_t>(tool)} : std::nullopt;
}

}  // namespace

std::optional<process_rights> read_rights(pid_t task) {
  const auto text = read_small_file(fmt::format("/proc/{}/status", task));
  if (!text || text->empty()) return std::nullopt;
  process_rights rights;
  read_ids(*text, "Uid", rights.users);
  read_ids(*text, "Gid", rights.groups);
  rights.permitted_capabilities = capability_set(*text, "CapPrm");
  rights.effective_capabilities = capability_set(*text, "CapEff");
  return rights;
}

refusal_facts facts_about(pid_t task) {
  refusal_facts facts;
  facts.task = task;
  facts.name = command_name(task);
  if (const auto status = read_task_status(task); status && status->tracer != 0) {
    // TracerPid names a thread.
    const auto tracer = read_task_status(status->tracer);
    facts.tracer = tracer ? tracer->process : status->tracer;
    facts.traced_by_us = facts.tracer == ::getpid();
    // A user knows the tool, not the tracer server of this library, so that the message names the tool.
    if (const auto tool = tool_of(facts.tracer)) {
      facts.tracer = *tool;
      facts.traced_by_us = facts.traced_by_us || tool_of(::getpid()) == tool;
    }
    facts.tracer_name = command_name(facts.tracer);
  }
  facts.kernel_thread = (flags_of(task) & is_of_the_kernel) != 0;
  if (const auto rights = read_rights(task)) facts.target = *rights;
  if (const auto rights = read_rights(::gettid())) facts.own = *rights;
  facts.dumpable = is_dumpable(task, facts.target);
  facts.ptrace_is_denied = ptrace_is_denied();
  facts.yama_scope = yama_ptrace_scope();
  facts.security_modules = read_small_file("/sys/kernel/security/lsm").value_or("");
  facts.in_inner_process_namespace = in_inner_process_namespace();
  return facts;
}

bool is_kernel_worker(pid_t task) {
  return (flags_of(task) & (is_worker_of_io | is_user_worker | is_of_the_kernel)) != 0;
}

}  // namespace mpiacq::tracing
