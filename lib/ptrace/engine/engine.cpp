// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/engine.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fmt/format.h>

namespace mpiacq::tracing {

namespace {

error gone(process_id id) {
  return {error_code::process_gone, fmt::format("process {} has ended, or is not traced", id.value())};
}

}  // namespace

result<traced_process*> engine::find(process_id id) {
  if (const error* why = lost(id)) return fail(*why);
  // A process that has been let go of is nobody's to command.
  const auto found = processes_.find(static_cast<pid_t>(id.value()));
  if (found == processes_.end()) return fail(gone(id));
  traced_process& process = found->second;
  if (process.now == phase::released || process.now == phase::leaving || process.now == phase::launching) {
    return fail(gone(id));
  }
  return &process;
}

result<traced_process*> engine::find_held(process_id id, const char* to) {
  auto process = find(id);
  if (process && (*process)->now != phase::held) {
    return fail(error_code::invalid_argument, fmt::format("process {} must be stopped to {}", id.value(), to));
  }
  return process;
}

traced_thread& engine::add_thread(traced_process& process, pid_t task) {
  traced_thread& thread = process.threads[task];
  thread.id = task;
  thread.registers_due = process.hardware != arch::hardware_table{};
  process_of_[task] = &process;
  return thread;
}

void engine::forget(traced_process& process) {
  for (const auto& [task, thread] : process.threads) process_of_.erase(task);
  leave_behind_of(process);
  process.now = phase::released;
  tell_guard(process);
  processes_.erase(process.id);
  place_unannounced_children();
}

void engine::report(const traced_process& process, decltype(process_event::what) what) {
  events_.push({process_id{process.id}, std::move(what)});
}

void engine::report_problem(const traced_process& process, error what) {
  report(process, tracing_problem{std::move(what)});
}

bool engine::holds_any() const {
  return !newborn_.empty() || std::any_of(processes_.begin(), processes_.end(), [](const auto& entry) {
    return entry.second.now != phase::released && entry.second.now != phase::leaving;
  });
}

bool engine::awaits_late_threads() const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const auto& entry) { return entry.second.now == phase::leaving; });
}

bool engine::must_step(const traced_process& process, const traced_thread& thread) {
  if (!thread.standing_on) return false;
  return std::any_of(process.breakpoints.begin(), process.breakpoints.end(), [&](const breakpoint& b) {
    return b.is_at(*thread.standing_on) && (b.kind == breakpoint_kind::software || arch::hardware_needs_step());
  });
}

void engine::let_run(traced_process& process, traced_thread& thread) {
  if (thread.state != thread_state::stopped) return;
  if (thread.registers_due && !thread.stepping) apply_hardware(process, thread);
  // A call that finds no thread is no failure: it is being killed, and its end will be told to us.
  if (thread.group_stop != 0) {
    // It stays stopped as the user wants it; SIGCONT shows in a new stop, also one that has come since.
    const bool listens = calls_.listen(thread.id).has_value();
    thread.state = listens ? thread_state::listening : thread_state::running;
    if (listens) return;
    // Its last stop was another one (a signal that came with the interrupt). Interrupted and continued, it comes back
    // with the group stop's.
    static_cast<void>(calls_.interrupt(thread.id));
    static_cast<void>(calls_.resume(thread.id, std::exchange(thread.signal, 0)));
    return;
  }
  const int signal = std::exchange(thread.signal, 0);
  thread.state = thread_state::running;
  if (thread.stepping) {
    apply_watches(process, thread);
    static_cast<void>(calls_.step(thread.id, signal));
    return;
  }
  thread.standing_on.reset();
  static_cast<void>(calls_.resume(thread.id, signal));
}

void engine::run_all(traced_process& process) {
  process.give_up = no_deadline;
  const bool steps = std::any_of(process.threads.begin(), process.threads.end(), [&](const auto& entry) {
    return entry.second.group_stop == 0 && must_step(process, entry.second);
  });
  if (steps) return begin_stepping(process);
  arm_and_run(process);
}

void engine::arm_and_run(traced_process& process) {
  process.now = phase::running;
  tell_guard(process);
  put_back_software(process);
  for (auto& [task, thread] : process.threads) let_run(process, thread);
}

result<void> engine::resume(process_id id) {
  if (lost(id) != nullptr) return {};
  if (events_.has_any_of(id)) {
    // The caller cannot mean what it has not been told of yet, unless the process has ended meanwhile.
    if (!processes_.contains(static_cast<pid_t>(id.value()))) return {};
  }
  auto process = find_held(id, "be resumed");
  if (!process) return fail(std::move(process).error());
  complete_stop(**process);
  return {};
}

result<void> engine::interrupt(process_id id) {
  const bool told_soon = events_.has_any_of(id);
  auto found = find(id);
  if (!found) {
    if (told_soon) return {};
    return fail(std::move(found).error());
  }
  traced_process& process = **found;
  if (process.now == phase::held) {
    if (told_soon) return {};
    return fail(error_code::invalid_argument, fmt::format("process {} is stopped already", id.value()));
  }
  process.interrupt_due = true;
  if (process.now == phase::running) begin_stop(process);
  return {};
}

result<void> engine::kill(process_id id) {
  const auto found = processes_.find(static_cast<pid_t>(id.value()));
  if (found == processes_.end()) {
    if (events_.has_any_of(id)) return {};
    return fail(gone(id));
  }
  // The number cannot have passed to another process: until we have waited for this one's end it is taken.
  if (::kill(found->first, SIGKILL) != 0 && errno != ESRCH) {
    return fail(
        error{error_code::permission, fmt::format("process {} cannot be killed", id.value())}.with_errno(errno));
  }
  return {};
}

result<std::vector<thread_id>> engine::threads(process_id id) {
  auto process = find(id);
  if (!process) return fail(std::move(process).error());
  std::vector<thread_id> all;
  for (const auto& [task, thread] : (*process)->threads) all.emplace_back(task);
  return all;
}

deadline engine::next_deadline() const {
  deadline next = no_deadline;
  for (const auto& [id, process] : processes_) {
    next = std::min({next, process.give_up, process.look_at_leader, hold_end_of(process)});
  }
  for (const delayed_attach& one : delayed_attaches_) next = std::min(next, one.when);
  return next;
}

void engine::on_time(clock::time_point now) {
  // A process may vanish on the way, so the due ones are named first.
  std::vector<pid_t> due;
  bool waits_too_long = false;
  for (const auto& [id, process] : processes_) {
    if (process.give_up <= now || process.look_at_leader <= now) due.push_back(id);
    waits_too_long = waits_too_long || hold_end_of(process) <= now;
  }
  for (const pid_t id : due) {
    const auto found = processes_.find(id);
    if (found == processes_.end()) continue;
    if (found->second.give_up <= now) {
      give_up_stop(found->second);
    } else {
      look_at_leader(found->second);
    }
  }
  begin_delayed_attaches(now);
  if (waits_too_long) give_up_waiting_for_tool();
}

}  // namespace mpiacq::tracing
