// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Interprets one stop, or the end, of one thread.
#include <csignal>
#include <utility>

#include "engine/engine.hpp"
#include "engine/fork_reports.hpp"
#include "framing/overloaded.hpp"

namespace mpiacq::tracing {

void engine::on_status(pid_t task, const wait_status& status) {
  traced_process* process = tracees_.with_thread(task);
  if (process == nullptr) process = tracees_.find(task);
  if (process == nullptr) return on_unknown(task, status);
  if (const auto* end = std::get_if<ended>(&status)) return on_end(*process, task, end->status);
  // The leader's number is the process's. The leader may be unknown, because it was released or had ended before the
  // attach. Then another thread takes the number by an exec.
  if (std::holds_alternative<exec_stop>(status) && process->now != phase::released) {
    return on_stop(*process, tracees_.add_thread(*process, task), status);
  }
  const auto thread = process->threads.find(task);
  if (thread == process->threads.end()) return on_unknown(task, status);
  on_stop(*process, thread->second, status);
}

/// Handles tasks that the kernel has attached: threads, which may report before their maker does, and children.
void engine::on_unknown(pid_t task, const wait_status& status) {
  if (std::holds_alternative<ended>(status)) return children_.on_end(task);
  const auto about = kernel_.tasks.status(task);
  if (!about) return;
  const auto* const stop = std::get_if<signal_stop>(&status);
  const int signal = stop == nullptr ? 0 : stop->signal;
  if (about->process == task) return children_.on_stop(task, about->parent, signal);
  traced_process* const process = tracees_.find(about->process);
  if (process == nullptr || process->now == phase::released) {
    static_cast<void>(kernel_.calls.detach(task, signal));
    return;
  }
  on_stop(*process, tracees_.add_thread(*process, task), status);
}

namespace {

bool is_event_stop(const wait_status& status) {
  return std::holds_alternative<trap_stop>(status) || std::holds_alternative<group_stop>(status);
}

}  // namespace

void engine::on_stop(traced_process& process, traced_thread& thread, const wait_status& status) {
  thread.state = thread_state::stopped;
  thread.late = false;
  if (std::holds_alternative<exec_stop>(status)) return on_exec(process);
  if (std::holds_alternative<exit_stop>(status)) return on_exit_stop(process, thread);
  if (const auto* stop = std::get_if<signal_stop>(&status)) endings_.on_signal(process, thread, stop->signal);
  if (thread.stepping && process.now == phase::stepping) return on_step_stop(process, thread, status);
  if (is_event_stop(status) && resuming_.run_into_pending_trap(process, thread)) return;
  std::visit(base::overloaded{
                 [&](const signal_stop& stop) {
                   if (stop.signal == SIGTRAP) return traps_.on_trap(process, thread);
                   thread.signal = stop.signal;
                 },
                 [&](const trap_stop&) { group_stops_.on_no_group_stop(process, thread); },
                 [&](const group_stop& stop) { group_stops_.on_group_stop(process, thread, stop.signal); },
                 [&](const birth_stop& stop) { on_birth(process, thread, stop.by); },
                 [&](const vfork_done_stop&) { on_vfork_done(process, thread); },
                 [](const auto&) {},
             },
             status);
  settle(process, thread);
}

/// Decides, after a stop was recorded, whether the thread continues at once.
void engine::settle(traced_process& process, traced_thread& thread) {
  switch (process.now) {
    case phase::running:
      if (process.at_entry || !process.hits.empty()) return begin_stop(process);
      [[fallthrough]];
    case phase::launching:
      // The thread stands on a breakpoint that is not reported (again): all threads must be held for its step.
      if (thread.group_stop == 0 && process.must_step(thread)) return begin_stop(process);
      return resuming_.run_thread(process, thread);
    case phase::stopping:
      if (process.is_stopped_but_for_late_threads()) complete_stop(process);
      return;
    case phase::leaving:
      return detaching_.let_go_late(process, thread);
    case phase::held:
    case phase::stepping:
    case phase::released:
      return;
  }
}

void engine::end_step(traced_process& process, traced_thread& thread) {
  thread.stepping = false;
  thread.standing_on.reset();
  step_on(process);
}

/// Handles a stop of the thread that steps off a breakpoint. After a stop for another reason than the step, the thread
/// is resumed to make the step.
void engine::on_step_stop(traced_process& process, traced_thread& thread, const wait_status& status) {
  if (const auto* stop = std::get_if<signal_stop>(&status)) {
    if (stop->signal == SIGTRAP) {
      if (traps_.on_trap_in_step(process, thread)) end_step(process, thread);
      return;
    }
    thread.signal = stop->signal;
  }
  if (const auto* stop = std::get_if<group_stop>(&status)) {
    // The thread cannot step before SIGCONT. The others must take part in the group stop; this thread steps afterwards.
    thread.stepping = false;
    group_stops_.on_group_stop(process, thread, stop->signal);
    return step_on(process);
  }
  if (const auto* birth = std::get_if<birth_stop>(&status)) on_birth(process, thread, birth->by);
  if (std::holds_alternative<vfork_done_stop>(status)) on_vfork_done(process, thread);
  if (std::holds_alternative<trap_stop>(status)) {
    const auto at = arch::program_counter(kernel_.calls, thread.id);
    if (at && thread.standing_on != *at) {
      if (resuming_.run_into_pending_trap(process, thread)) return;
      return end_step(process, thread);
    }
  }
  resuming_.run_thread(process, thread);
}

/// The thread ends, alone or with its process. It executes no instruction any more, takes no signal, and makes no step.
void engine::on_exit_stop(traced_process& process, traced_thread& thread) {
  const bool was_stepping = std::exchange(thread.stepping, false);
  thread.standing_on.reset();
  thread.signal = thread.group_stop = 0;
  endings_.on_exit_stop(process, thread);
  if (process.is_let_go()) return settle(process, thread);
  if (!process.ending || process.killed) {
    resuming_.run_thread(process, thread);
    if (was_stepping && process.now == phase::stepping) return step_on(process);
  } else if (process.now == phase::running && process.ending->reported) {
    resuming_.run_thread(process, thread);
  } else if (process.now == phase::running || (was_stepping && process.now == phase::stepping)) {
    stops_.await(process);
  }
  if (process.now == phase::stopping && process.is_stopped_but_for_late_threads()) return complete_stop(process);
  tell_end_of_held(process);
}

/// Any thread may have made the exec: it has the leader's number now, and every other thread has ended. The breakpoints
/// went with the old memory, and the kernel has cleared the registers.
void engine::on_exec(traced_process& process) {
  tracees_.drop_threads(process);
  children_.on_parent_gone(process);
  process.breakpoints.forget_program();
  process.last_writes.clear();
  process.at_entry = false;
  process.hits.clear();
  process.ending.reset();
  traced_thread& leader = tracees_.add_thread(process, process.id);
  leader.state = thread_state::stopped;
  process.shares_memory = false;
  update_fork_reports(kernel_.calls, process);
  children_.place_unreported();
  if (process.now == phase::launching) launching::on_exec(process);
  if (process.detaching && process.now == phase::running) return detaching_.finish(process);
  if (process.now == phase::stepping) process.now = phase::running;
  if (process.now != phase::leaving) launching_.plan_entry_stop(process);
  settle(process, leader);
}

void engine::on_birth(traced_process& process, traced_thread& thread, birth_stop::how by) {
  const auto message = kernel_.calls.event_message(thread.id);
  if (!message) return;
  const auto child = static_cast<pid_t>(*message);
  if (by == birth_stop::how::vfork) thread.in_vfork = true;
  // The child's own first stop came before this.
  if (process.threads.contains(child) || tracees_.find(child) != nullptr) return;
  if (by == birth_stop::how::clone && kernel_.tasks.is_thread_of(process.id, child)) {
    tracees_.add_thread(process, child);
    return;
  }
  children_.on_report(process, child, by);
}

void engine::on_vfork_done(traced_process& process, traced_thread& thread) {
  thread.in_vfork = false;
  breakpoints_.put_back_software(process);
}

void engine::on_end(traced_process& process, pid_t task, const exit_status& status) {
  if (task == process.id) return on_process_end(process, status);
  const auto thread = process.threads.find(task);
  if (thread == process.threads.end()) return;
  const bool was_stepping = thread->second.stepping;
  const bool was_in_vfork = thread->second.in_vfork;
  tracees_.drop_thread(process, task);
  if (process.threads.empty() && process.now != phase::leaving) {
    // The leader had ended before the attach, and no wait reports it. If the last thread ends only itself (_exit(2) as
    // a bare system call), the leader's own status remains; every C library ends the whole process instead.
    if (process.attaching && !has_ended(process.id)) return attaching_.go_on(process);
    return on_process_end(process, status);
  }
  if (was_in_vfork) breakpoints_.put_back_software(process);
  if (was_stepping && process.now == phase::stepping) return step_on(process);
  if (process.now == phase::stopping && process.is_stopped_but_for_late_threads()) return complete_stop(process);
  if (process.now == phase::leaving) return detaching_.end_if_empty(process);
  tell_end_of_held(process);
}

void engine::on_process_end(traced_process& process, const exit_status& status) {
  if (process.now == phase::launching) return launching_.on_end(process, status);
  // The exit of an attached process is reported only while it is attached.
  const bool is_told = process.launched || (!process.attaching && process.now != phase::leaving);
  attaching::end(process);
  detaching::answer(process, {});
  tool_.forget_loss(process.id);
  if (is_told) events_.report(process.id, process_ended{status});
  attaching_.forget(process.id);
  detaching_.forget(process);
}

}  // namespace mpiacq::tracing
