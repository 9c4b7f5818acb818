// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The tool's commands. A command is valid if the tool sent it before it knew of an event that makes it obsolete.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <utility>
#include <vector>

#include <elf.h>
#include <fmt/format.h>

#include "engine/engine.hpp"
#include "engine/fork_reports.hpp"
#include "engine/shared_answer.hpp"
#include "errors/try.hpp"

namespace mpiacq::tracing {

namespace {

error gone(process_id id) {
  return {error_code::process_gone, fmt::format("process {} has ended, or is not traced", id.value())};
}

/// Empty if the kernel does not give them.
std::vector<std::byte> floating_point_of(const ptrace_calls& calls, pid_t thread) {
  std::vector<std::byte> set(thread_registers::most_set_bytes);
  set.resize(std::min(set.size(), calls.get_registers(thread, NT_PRFPREG, set).value_or(0)));
  return set;
}

}  // namespace

result<traced_process*> engine::find(process_id id) {
  if (const error* why = tool_.loss_of(id)) return fail(*why);
  traced_process* const found = tracees_.find(static_cast<pid_t>(id.value()));
  if (found == nullptr || found->is_let_go() || found->now == phase::launching) return fail(gone(id));
  return found;
}

result<traced_process*> engine::find_held(process_id id, const char* to) {
  traced_process* const process = TRY(find(id));
  if (process->now == phase::held) return process;
  return fail(error_code::invalid_argument, fmt::format("process {} must be stopped to {}", id.value(), to));
}

result<void> engine::resume(process_id id) {
  if (tool_.loss_of(id) != nullptr) return {};
  // The process has ended, and the tool has not received that event yet.
  if (events_.has_any_of(id) && tracees_.find(static_cast<pid_t>(id.value())) == nullptr) return {};
  traced_process* process = TRY(find_held(id, "be resumed"));
  if (process->reports_end && !process->killed) process = after_news_of(*process);
  if (process == nullptr) return {};
  // SIGKILL has ended the process while it was held, and the tool does not know of process_ending yet.
  if (process->ending && process->ending->reported && events_.has_any_of(id)) return {};
  if (process->ending && !process->is_stopped_but_for_late_threads()) {
    stops_.await(*process);
  } else {
    complete_stop(*process);
  }
  return {};
}

result<void> engine::interrupt(process_id id) {
  const bool is_told_soon = events_.has_any_of(id);
  auto found = find(id);
  if (!found) {
    if (is_told_soon) return {};
    return fail(std::move(found).error());
  }
  traced_process& process = **found;
  if (process.now == phase::held) {
    if (is_told_soon) return {};
    return fail(error_code::invalid_argument, fmt::format("process {} is stopped already", id.value()));
  }
  process.interrupt_due = true;
  if (process.now == phase::running) begin_stop(process);
  return {};
}

void engine::detach(process_id id, leave how, reply<void> answer) {
  auto found = find(id);
  if (!found) {
    if (tool_.loss_of(id) == nullptr && events_.has_any_of(id)) return answer({});
    return answer(fail(std::move(found).error()));
  }
  begin_detach(**found, {how, std::move(answer)});
}

void engine::detach_all(const std::vector<process_id>& ids, leave how, reply<std::vector<result<void>>> answer) {
  if (ids.empty()) return answer({});
  auto* const all = shared_answer::create(ids.size(), std::move(answer));
  // All processes are asked to stop before any is waited for.
  for (std::size_t i = 0; i < ids.size(); ++i) detach(ids[i], how, all->part(i));
}

result<void> engine::kill(process_id id) {
  traced_process* const found = tracees_.find(static_cast<pid_t>(id.value()));
  if (found == nullptr) {
    if (events_.has_any_of(id)) return {};
    return fail(gone(id));
  }
  // The pid cannot have passed to another process: it stays in use until the tracer has waited for this process.
  if (::kill(found->id, SIGKILL) != 0 && errno != ESRCH) {
    return fail(
        error{error_code::permission, fmt::format("process {} cannot be killed", id.value())}.with_errno(errno));
  }
  // The kernel drops a signal to a process that is in its end.
  found->killed = true;
  for (auto& [task, thread] : found->threads) {
    if (thread.end) resuming_.run_thread(*found, thread);
  }
  return {};
}

result<breakpoint_kind> engine::insert_breakpoint(process_id id, target_address address, breakpoint_kind kind) {
  traced_process* const process = TRY(find_held(id, "put a breakpoint in"));
  return breakpoints_.insert(*process, address, kind, &breakpoint::for_user);
}

result<void> engine::remove_breakpoint(process_id id, target_address address) {
  traced_process* const process = TRY(find_held(id, "take a breakpoint out"));
  return breakpoints_.remove(*process, &breakpoint::for_user, address);
}

result<void> engine::insert_watchpoint(process_id id, target_address address, std::uint64_t length) {
  traced_process* const process = TRY(find_held(id, "have writes of it watched"));
  return breakpoints_.insert_watch(*process, address, length);
}

result<void> engine::remove_watchpoint(process_id id, target_address address) {
  traced_process* const process = TRY(find_held(id, "have writes of it watched no more"));
  breakpoints::remove_watch(*process, address);
  return {};
}

result<void> engine::restore_on_exit(process_id id, target_address address, std::vector<std::byte> bytes) {
  traced_process* const process = TRY(find(id));
  return detaching_.restore_on_exit(*process, address, std::move(bytes));
}

result<void> engine::follow_children(process_id id, bool follow) {
  traced_process* const process = TRY(follow ? find_held(id, "have its children followed") : find(id));
  process->follow_children = follow;
  // A running process keeps its fork reports until its next stop. Its children are released as they appear.
  if (process->now == phase::held) update_fork_reports(kernel_.calls, *process);
  return {};
}

result<std::vector<thread_id>> engine::threads(process_id id) {
  const traced_process* const process = TRY(find(id));
  std::vector<thread_id> all;
  for (const auto& [task, thread] : process->threads) all.emplace_back(task);
  return all;
}

std::vector<result<std::vector<thread_registers>>> engine::registers(const std::vector<process_id>& ids,
                                                                     which_threads which, register_sets sets) {
  std::vector<result<std::vector<thread_registers>>> all;
  all.reserve(ids.size());
  for (const process_id id : ids) all.push_back(registers_of(id, which, sets));
  return all;
}

result<std::vector<thread_registers>> engine::registers_of(process_id id, which_threads which, register_sets sets) {
  const traced_process* const process = TRY(find_held(id, "have its registers read"));
  std::vector<thread_registers> all;
  for (const auto& [task, thread] : process->threads) {
    if (!thread.is_stopped() || (which == which_threads::first && task != process->id)) continue;
    auto registers = arch::general_registers(kernel_.calls, task);
    if (!done_or_gone(registers)) return fail(std::move(registers).error());
    if (!registers) continue;
    if (sets == register_sets::with_floating_point) registers->floating_point = floating_point_of(kernel_.calls, task);
    all.push_back(std::move(*registers));
  }
  return all;
}

}  // namespace mpiacq::tracing
