// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What one stop, or the end, of one thread means.
#include <csignal>

#include <fmt/format.h>

#include "engine/engine.hpp"
#include "engine/overloaded.hpp"
#include "engine/pending_trap.hpp"

namespace mpiacq::tracing {

void engine::on_status(pid_t task, const wait_status& status) {
  const auto known = process_of_.find(task);
  const auto by_number = known == process_of_.end() ? processes_.find(task) : processes_.end();
  if (known == process_of_.end() && by_number == processes_.end()) return on_stranger(task, status);
  traced_process& process = known == process_of_.end() ? by_number->second : *known->second;
  if (const auto* end = std::get_if<ended>(&status)) return on_end(process, task, end->status);
  // The leader's number is the process's. Where it is no thread of ours any more, it has been let go; where it never
  // was, because it had ended before we came, another thread takes its number with an exec.
  if (std::holds_alternative<exec_stop>(status) && process.now != phase::released) {
    return on_stop(process, add_thread(process, task), status);
  }
  const auto thread = process.threads.find(task);
  if (thread == process.threads.end()) return on_stranger(task, status);
  on_stop(process, thread->second, status);
}

namespace {

bool is_event_stop(const wait_status& status) {
  return std::holds_alternative<trap_stop>(status) || std::holds_alternative<group_stop>(status);
}

}  // namespace

/// Lets a thread that stopped with the SIGTRAP of a breakpoint in its queue go on into that.
bool engine::reports_trap_first(const traced_process& process, traced_thread& thread) {
  if (process.breakpoints.empty() && process.now != phase::leaving) return false;
  if (!trap_is_pending(calls_, thread.id)) return false;
  thread.state = thread_state::running;
  static_cast<void>(calls_.resume(thread.id, 0));
  return true;
}

void engine::on_stop(traced_process& process, traced_thread& thread, const wait_status& status) {
  thread.state = thread_state::stopped;
  thread.late = false;
  if (thread.stepping && process.now == phase::stepping && !std::holds_alternative<exec_stop>(status)) {
    return on_step_stop(process, thread, status);
  }
  if (is_event_stop(status) && reports_trap_first(process, thread)) return;
  std::visit(overloaded{
                 [&](const ended&) {},
                 [&](const signal_stop& stop) { on_signal(process, thread, stop.signal); },
                 [&](const trap_stop&) { on_group_stop_end(process, thread); },
                 [&](const group_stop& stop) { on_group_stop(process, thread, stop.signal); },
                 [&](const exec_stop&) { on_exec(process); },
                 [&](const birth_stop& stop) { on_birth(process, thread, stop.by); },
                 [&](const vfork_done_stop&) { on_vfork_done(process, thread); },
                 [&](const other_stop&) {},
             },
             status);
  // An exec leaves another set of threads, of which only the leader is sure to be there.
  if (const auto still = process.threads.find(process.id); std::holds_alternative<exec_stop>(status)) {
    if (still != process.threads.end()) settle(process, still->second);
    return;
  }
  settle(process, thread);
}

/// After a stop has been taken in: whether the thread goes on at once.
void engine::settle(traced_process& process, traced_thread& thread) {
  switch (process.now) {
    case phase::launching:
    case phase::running:
      // Stopped on a breakpoint that nobody is told of (again): all must be held for the step.
      if (thread.group_stop == 0 && must_step(process, thread)) return begin_stop(process);
      return let_run(process, thread);
    case phase::stopping:
      if (all_stopped(process)) complete_stop(process);
      return;
    case phase::held:
    case phase::stepping:
      return;
    case phase::leaving:
      detach_thread(process, thread);
      return leave_if_empty(process);
    case phase::released:
      return;
  }
}

void engine::on_signal(traced_process& process, traced_thread& thread, int signal) {
  if (signal == SIGTRAP) return on_trap(process, thread);
  thread.signal = signal;
}

/// Which SIGTRAP is it? Ours are swallowed; the program's own goes to the program.
void engine::on_trap(traced_process& process, traced_thread& thread) {
  const auto info = calls_.signal_info(thread.id);
  if (!info) return;
  if (arch::is_hardware_hit(info->si_code)) {
    return on_hardware_hits(process, thread, take::all);
  }
  if (arch::is_trap_instruction(info->si_code)) {
    for (const breakpoint& b : process.breakpoints) {
      if (b.kind != breakpoint_kind::software || !arch::step_back_to(calls_, thread.id, b.address)) continue;
      return on_hit(process, thread, b.address);
    }
  }
  thread.signal = SIGTRAP;
}

void engine::on_hardware_hits(traced_process& process, traced_thread& thread, take which) {
  const auto hits = arch::hardware_hits(calls_, thread.id, process.hardware);
  if (!hits) return;
  for (const arch::hardware_trigger& what : *hits) {
    if (what.written != 0) {
      on_write(process, thread, what.address);
    } else if (which == take::all) {
      on_hit(process, thread, what.address);
    }
  }
}

void engine::on_hit(traced_process& process, traced_thread& thread, target_address at) {
  thread.standing_on = at;
  if (const auto left = std::exchange(thread.left_by_signal, std::nullopt); left && left->address == at) {
    const auto stack = arch::stack_pointer(calls_, thread.id);
    if (stack && *stack == left->stack) return;
  }
  for (const breakpoint& b : process.breakpoints) {
    if (!b.is_at(at)) continue;
    if (b.for_entry) process.at_entry = true;
    if (b.for_user) process.hits.emplace_back(breakpoint_hit{thread_id{thread.id}, at});
  }
  if (process.now == phase::running) begin_stop(process);
}

void engine::on_group_stop(traced_process& process, traced_thread& thread, int signal) {
  thread.group_stop = signal;
  if (std::exchange(process.group_stop, signal) == 0 && process.now != phase::leaving) {
    report(process, group_stopped{signal});
  }
}

/// A trap stop says that no group stop is in effect. Only of a thread that was in one does it mean that one has ended:
/// others may have trapped before it began.
void engine::on_group_stop_end(traced_process& process, traced_thread& thread) {
  if (std::exchange(thread.group_stop, 0) == 0) return;
  if (std::exchange(process.group_stop, 0) != 0 && process.now != phase::leaving) report(process, group_continued{});
}

/// The exec may have come from any thread: it has the leader's number now, and every other thread has ended.
/// Breakpoints went with the old memory, and the kernel has cleared the registers.
void engine::on_exec(traced_process& process) {
  for (const auto& [task, thread] : process.threads) process_of_.erase(task);
  process.threads.clear();
  leave_behind_of(process);
  process.breakpoints.clear();
  process.last_writes.clear();
  process.hardware = {};
  process.lifted = process.at_entry = false;
  process.hits.clear();
  traced_thread& leader = add_thread(process, process.id);
  leader.state = thread_state::stopped;
  process.shares_memory = false;
  set_options(process);
  place_unannounced_children();
  if (process.now == phase::launching) on_launch_exec(process);
  if (process.detaching && process.now == phase::running) return finish_detach(process);
  if (process.now == phase::stepping) process.now = phase::running;
  if (process.now == phase::leaving) return;
  plan_entry_stop(process);
}

void engine::on_birth(traced_process& process, traced_thread& thread, birth_stop::how by) {
  const auto message = calls_.event_message(thread.id);
  if (!message) return;
  const auto child = static_cast<pid_t>(*message);
  if (by == birth_stop::how::vfork) thread.in_vfork = true;
  if (process.threads.contains(child) || processes_.contains(child)) return;  // its own first stop came before this
  if (by == birth_stop::how::clone && is_thread_of(process.id, child)) {
    add_thread(process, child);
    return;
  }
  announce_child(process, child, by);
}

void engine::on_vfork_done(traced_process& process, traced_thread& thread) {
  thread.in_vfork = false;
  put_back_software(process);
}

void engine::on_end(traced_process& process, pid_t task, const exit_status& status) {
  if (task == process.id) return on_process_end(process, status);
  const auto thread = process.threads.find(task);
  if (thread == process.threads.end()) return;
  const bool was_stepping = thread->second.stepping;
  const bool was_in_vfork = thread->second.in_vfork;
  process.threads.erase(thread);
  process_of_.erase(task);
  if (process.threads.empty() && process.now != phase::leaving) {
    // The leader had ended before we came, and nobody tells us of it. An exit of the last thread that ends it alone
    // (_exit(2) as a bare system call) would leave the leader's own status; every library ends the process by it.
    if (process.attaching && !has_ended(process.id)) return go_on_attaching(process);
    return on_process_end(process, status);
  }
  if (was_in_vfork) put_back_software(process);
  if (was_stepping && process.now == phase::stepping) return begin_stepping(process);
  if (process.now == phase::stopping && all_stopped(process)) return complete_stop(process);
  if (process.now == phase::leaving) leave_if_empty(process);
}

void engine::on_process_end(traced_process& process, const exit_status& status) {
  if (process.now == phase::launching) return on_launch_end(process, status);
  // Whoever did not launch it is not told of its end before it was theirs, nor afterwards.
  const bool tell = process.launched || (!process.attaching && process.now != phase::leaving);
  end_attach(process);
  end_detach(process, {});
  lost_.erase(process_id{process.id});
  if (tell) report(process, process_ended{status});
  folders_.drop(process.id);
  forget(process);
}

}  // namespace mpiacq::tracing
