// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What /proc says of two processes of which one may not trace the other.
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

namespace mpiacq::tracing {

namespace {

// include/linux/sched.h; the flags are the ninth field of /proc/PID/stat.
constexpr unsigned long is_worker_of_io = 0x10;
constexpr unsigned long is_user_worker = 0x4000;
constexpr unsigned long is_of_the_kernel = 0x200000;

/// What stands after "Name:\t" in a file of such lines.
std::string_view line_of(std::string_view text, std::string_view name) {
  const auto at = text.find(name);
  if (at == std::string_view::npos) return {};
  const auto rest = text.substr(at + name.size());
  return rest.substr(0, rest.find('\n'));
}

template <class Number>
Number next_number(std::string_view& text, int base = 10) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  Number number{};
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number, base).ptr;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::uint64_t capability_set(std::string_view text, std::string_view name) {
  auto line = line_of(text, name);
  return next_number<std::uint64_t>(line, 16);
}

unsigned long flags_of(pid_t task) {
  const auto text = read_small_file(fmt::format("/proc/{}/stat", task));
  // The command's name stands in parentheses and may hold some itself; the last one ends it. Six fields are between.
  const auto name_end = text ? text->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return 0;
  auto rest = std::string_view{*text}.substr(name_end + 1);
  constexpr int fields_between = 6;
  for (int i = 0; i < fields_between; ++i) {
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
    rest.remove_prefix(std::min(rest.find(' '), rest.size()));
  }
  return next_number<unsigned long>(rest);
}

/// The kernel shows the files of a process that is not dumpable as root's own.
bool is_dumpable(pid_t task, const process_rights& rights) {
  struct stat about {};
  if (::stat(fmt::format("/proc/{}/status", task).c_str(), &about) != 0) return true;
  return about.st_uid == rights.users[1];
}

/// Asked about a process that cannot be: the kernel has to say that there is none, so anything else is a filter's word.
bool ptrace_is_denied() {
  constexpr pid_t nobody = -1;
  return ::ptrace(PTRACE_SEIZE, nobody, 0, 0) != 0 && errno != ESRCH;
}

/// A process of ours is called by its arguments: "tracer", "of", and the tool's number (tracer_client.cpp).
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
  auto users = line_of(*text, "\nUid:");
  auto groups = line_of(*text, "\nGid:");
  for (auto& id : rights.users) id = next_number<uid_t>(users);
  for (auto& id : rights.groups) id = next_number<gid_t>(groups);
  rights.permitted_capabilities = capability_set(*text, "\nCapPrm:");
  rights.effective_capabilities = capability_set(*text, "\nCapEff:");
  return rights;
}

refusal_facts facts_about(pid_t task) {
  refusal_facts facts;
  facts.task = task;
  facts.name = command_name(task);
  if (const auto status = read_task_status(task); status && status->tracer != 0) {
    // What is named there is a thread.
    const auto tracer = read_task_status(status->tracer);
    facts.tracer = tracer ? tracer->process : status->tracer;
    facts.traced_by_us = facts.tracer == ::getpid();
    // A tracing process of this library says for whom it traces; that is whom a person knows.
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
