// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Operations on a whole process: stopping, the next action when all threads are stopped, detaching, limits.
#include "engine/engine.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "engine/fork_reports.hpp"

namespace mpiacq::tracing {

engine::engine(kernel_access kernel, event_queue& events, const tracer_options& options, int guard)
    : kernel_(kernel),
      events_(events),
      tool_(options),
      guard_(guard),
      breakpoints_(kernel, tracees_, events),
      children_(kernel, tracees_, breakpoints_, events, tool_),
      detaching_(kernel, tracees_, breakpoints_, children_, guard_),
      resuming_(kernel.calls, breakpoints_, guard_, options),
      traps_(kernel.calls),
      group_stops_(events),
      endings_(kernel),
      stops_(kernel, tracees_, events, options, *this),
      attaching_(kernel, tracees_, stops_, breakpoints_, children_, detaching_, tool_, options),
      launching_(kernel, tracees_, breakpoints_, detaching_, guard_, events),
      taking_over_(kernel, tracees_, attaching_, breakpoints_, detaching_, resuming_, events) {}

void engine::begin_stop(traced_process& process) {
  stops_.begin(process);
  if (process.is_stopped_but_for_late_threads()) complete_stop(process);
}

void engine::complete_stop(traced_process& process) {
  process.give_up = process.look_at_leader = no_deadline;
  breakpoints_.disarm(process);
  update_fork_reports(kernel_.calls, process);
  if (process.attaching) return attaching_.go_on(process);
  if (process.detaching) return detaching_.finish(process);
  const auto report = [&](decltype(process_event::what) what) {
    process.hold(clock::now());
    process.interrupt_due = false;
    events_.report(process.id, std::move(what));
  };
  if (std::exchange(process.at_entry, false)) {
    events_.report_if_failed(process.id, breakpoints_.remove(process, &breakpoint::for_entry));
    return report(entry_reached{});
  }
  if (const auto first = traps::take_hit(process)) return std::visit(report, *first);
  if (endings::is_due(process)) {
    // No instruction of the program runs any more.
    static_cast<void>(breakpoints_.remove_all(process));
    return report(endings_.take(process));
  }
  if (process.interrupt_due) return report(interrupted{});
  resuming_.run(process);
}

void engine::tell_end_of_held(traced_process& process) {
  const bool has_more_to_tell = process.at_entry || !process.hits.empty();  // which comes first, after a resume
  if (process.now != phase::held || has_more_to_tell || !endings::is_due(process)) return;
  if (!process.is_stopped_but_for_late_threads()) return;
  static_cast<void>(breakpoints_.remove_all(process));
  events_.report(process.id, endings_.take(process));
}

/// Continues after a step off a breakpoint, or after the end of the stepping thread.
void engine::step_on(traced_process& process) {
  if (resuming_.step_next(process)) return;
  if (process.has_something_due()) return complete_stop(process);
  resuming_.arm_and_run(process);
}

void engine::begin_detach(traced_process& process, detach_request request) {
  process.detaching = std::move(request);
  if (process.now == phase::held) return detaching_.finish(process);
  if (process.now == phase::running) return begin_stop(process);
}

void engine::leave_all() {
  tool_.on_leave();
  attaching_.give_up_retries();
  children_.place_unreported();
  for (const pid_t id : tracees_.ids()) {
    traced_process* const process = tracees_.find(id);
    if (process == nullptr) continue;
    if (process->ends_with_tool && process->now != phase::released) ::kill(id, SIGKILL);
    if (process->detaching) {
      process->detaching->without_tool = true;
      continue;
    }
    // A process that is being launched is released when its exec succeeds.
    if (!process->is_let_go()) begin_detach(*process, {leave::running, [](const result<void>&) {}, true});
  }
}

bool engine::holds_any() const {
  return !children_.empty() || tracees_.any_of([](const traced_process& process) { return !process.is_let_go(); });
}

bool engine::awaits_late_threads() const {
  return tracees_.any_of([](const traced_process& process) { return process.now == phase::leaving; });
}

deadline engine::next_deadline() const {
  deadline next = attaching_.next_retry();
  for (const auto& [id, process] : tracees_.all()) {
    next =
        std::min({next, process.give_up, process.look_at_leader, endings::next_look(process), tool_.end_for(process)});
  }
  return next;
}

void engine::on_time(clock::time_point now) {
  std::vector<pid_t> due;
  bool held_too_long = false;
  for (const auto& [id, process] : tracees_.all()) {
    if (std::min({process.give_up, process.look_at_leader, endings::next_look(process)}) <= now) due.push_back(id);
    held_too_long = held_too_long || tool_.end_for(process) <= now;
  }
  for (const pid_t id : due) {
    // Handling one process can erase another.
    traced_process* const process = tracees_.find(id);
    if (process == nullptr) continue;
    if (process->give_up <= now) {
      on_stop_limit(*process);
    } else if (process->look_at_leader <= now) {
      look_at_leader(*process);
    } else {
      look_at_end(*process);
    }
  }
  attaching_.retry_due(now);
  if (held_too_long) on_hold_limit();
}

void engine::on_stop_limit(traced_process& process) {
  if (process.now == phase::stepping) return resuming_.interrupt_step(process);
  process.give_up = no_deadline;
  if (process.now != phase::stopping) return;
  stops_.give_up(process);
  complete_stop(process);
}

void engine::look_at_leader(traced_process& process) {
  process.look_at_leader = no_deadline;
  if (process.now == phase::leaving) return detaching_.look_at_leader(process);
  if (process.now != phase::stopping || attaching_.look_for_new_leader(process)) return;
  if (stops_.leader_is_dead(process) && process.is_stopped_but_for_late_threads()) complete_stop(process);
}

/// Looks whether what seemed to be the end of the process is only the end of some threads. These threads are released
/// in every phase, because an exec may wait for their end.
void engine::look_at_end(traced_process& process) {
  if (!endings_.is_refuted(process)) {
    if (process.now == phase::stopping && process.is_stopped_but_for_late_threads()) return complete_stop(process);
    return tell_end_of_held(process);
  }
  process.ending.reset();
  for (auto& [task, thread] : process.threads) {
    if (thread.end) resuming_.run_thread(process, thread);
  }
  if (process.now != phase::stopping) return;
  // The threads have been interrupted only if something else needs the stop, and it may have come later.
  if (process.attaching) return;
  if (process.has_something_due()) return begin_stop(process);
  resuming_.run(process);
}

/// Handles what the threads of a held process have to report. SIGKILL may have taken them out of their stops, and a
/// resume would take them out of their exit stops unseen. Returns the process if it is still held.
traced_process* engine::after_news_of(traced_process& process) {
  const pid_t id = process.id;
  std::vector<pid_t> tasks;
  for (const auto& [task, thread] : process.threads) tasks.push_back(task);
  for (const pid_t task : tasks) {
    if (const auto report = waiter::next_of(task)) on_status(report->task, report->status);
  }
  traced_process* const left = tracees_.find(id);
  return left != nullptr && left->now == phase::held ? left : nullptr;
}

/// Releases all processes, including running ones: a breakpoint that one of them meets later would stop it for a tool
/// that does not answer.
void engine::on_hold_limit() {
  tool_.on_silence();
  for (const pid_t id : tracees_.ids()) {
    traced_process* const process = tracees_.find(id);
    if (process == nullptr || process->is_let_go() || process->now == phase::launching) continue;
    if (process->attaching || process->detaching) continue;
    const error why = tool_.reason(id);
    begin_detach(*process, {leave::running,
                            [this, id, why](const result<void>&) {
                              tool_.lose(id, why);
                              events_.report(id, control_lost{why});
                            },
                            true});
  }
}

}  // namespace mpiacq::tracing
