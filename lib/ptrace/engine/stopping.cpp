// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Stopping all threads of a process, what is done once they are, and steps off breakpoints.
#include <algorithm>
#include <csignal>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/engine.hpp"

namespace mpiacq::tracing {

namespace {

using namespace std::chrono_literals;

constexpr auto leader_interval = 10ms;

/// A leader that has ended is kept as a zombie until its last thread ends, and no stop of it will ever come.
bool is_dead_leader(const traced_process& process) {
  const auto leader = process.threads.find(process.id);
  if (leader == process.threads.end() || leader->second.state == thread_state::stopped) return false;
  const auto status = read_task_status(process.id);
  return !status || status->state == 'Z' || status->state == 'X';
}

}  // namespace

void engine::begin_stop(traced_process& process) {
  for (auto& [task, thread] : process.threads) {
    if (thread.state == thread_state::stopped) continue;
    // A thread that is being killed says so by its end. A late one has been asked already.
    if (!thread.late && calls_.interrupt(task)) expected_.push_back(task);
    // An interrupted listener reports a stop again, with the signal that it is in a group stop for.
    thread.state = thread_state::running;
  }
  await_stop(process);
  if (all_stopped(process)) complete_stop(process);
}

void engine::await_stop(traced_process& process) {
  process.now = phase::stopping;
  const auto now = clock::now();
  process.give_up = now + options_.stop_limit;
  if (process.threads.size() > 1 || process.attaching) process.look_at_leader = now + leader_interval;
}

bool engine::all_stopped(const traced_process& process) {
  return std::all_of(process.threads.begin(), process.threads.end(), [](const auto& entry) {
    return entry.second.state == thread_state::stopped || entry.second.late || entry.second.zombie;
  });
}

/// The kernel tells nobody when a leader becomes a zombie with threads left, so while it alone is missing it is looked
/// at now and then.
void engine::look_at_leader(traced_process& process) {
  process.look_at_leader = no_deadline;
  if (process.now == phase::leaving) return look_at_left_leader(process);
  if (process.now != phase::stopping || look_for_new_leader(process)) return;
  if (!is_dead_leader(process)) {
    process.look_at_leader = clock::now() + leader_interval;
    return;
  }
  process.threads[process.id].zombie = true;
  if (all_stopped(process)) complete_stop(process);
}

void engine::give_up_stop(traced_process& process) {
  if (process.now == phase::stepping) {
    // The instruction under the breakpoint takes long (a system call): an interrupt ends it as a signal would.
    process.give_up = clock::now() + options_.stop_limit;
    for (auto& [task, thread] : process.threads) {
      if (thread.stepping) static_cast<void>(calls_.interrupt(task));
    }
    return;
  }
  process.give_up = no_deadline;
  if (process.now != phase::stopping) return;
  std::vector<pid_t> missing;
  for (auto& [task, thread] : process.threads) {
    if (thread.state == thread_state::stopped || thread.late || thread.zombie) continue;
    thread.late = true;
    missing.push_back(task);
  }
  report_problem(
      process, {error_code::timed_out, fmt::format("process {}: thread {} did not stop within {} ms (waiting in the "
                                                   "kernel, or in vfork); it stops when it comes back from there",
                                                   process.id, fmt::join(missing, ", "), options_.stop_limit.count())});
  complete_stop(process);
}

void engine::complete_stop(traced_process& process) {
  process.give_up = process.look_at_leader = no_deadline;
  disarm(process);
  set_options(process);
  if (process.attaching) return go_on_attaching(process);
  if (process.detaching) return finish_detach(process);
  if (std::exchange(process.at_entry, false)) {
    become_held(process);
    process.interrupt_due = false;
    if (auto out = take_out(process, &breakpoint::for_entry); !out) report_problem(process, std::move(out).error());
    return report(process, entry_reached{});
  }
  while (!process.hits.empty()) {
    const hit first = process.hits.front();
    process.hits.erase(process.hits.begin());
    if (!is_of_interest(process, first)) continue;
    become_held(process);
    process.interrupt_due = false;
    return std::visit([&](const auto& what) { report(process, what); }, first);
  }
  if (std::exchange(process.interrupt_due, false)) {
    become_held(process);
    return report(process, interrupted{});
  }
  run_all(process);
}

/// Everybody else is held and nothing is armed, so one step cannot hit anything.
void engine::begin_stepping(traced_process& process) {
  process.now = phase::stepping;
  for (auto& [task, thread] : process.threads) {
    if (thread.state != thread_state::stopped || thread.group_stop != 0 || !must_step(process, thread)) continue;
    thread.stepping = true;
    thread.leaving = {*thread.standing_on, arch::stack_pointer(calls_, task).value_or(target_address{})};
    process.give_up = clock::now() + options_.stop_limit;
    return let_run(process, thread);
  }
  end_stepping(process);
}

void engine::end_stepping(traced_process& process) {
  process.give_up = no_deadline;
  const bool something_came_up =
      process.detaching || process.at_entry || process.interrupt_due || !process.hits.empty();
  if (something_came_up) return complete_stop(process);
  arm_and_run(process);
}

void engine::on_step_stop(traced_process& process, traced_thread& thread, const wait_status& status) {
  const auto finish = [&] {
    thread.stepping = false;
    thread.standing_on.reset();
    begin_stepping(process);
  };
  if (const auto* stop = std::get_if<signal_stop>(&status); stop != nullptr && stop->signal == SIGTRAP) {
    const auto info = calls_.signal_info(thread.id);
    if (!info) return;
    if (arch::is_step_end(info->si_code)) {
      on_hardware_hits(process, thread, take::writes);
      return finish();
    }
    // The kernel's own stop (ptrace_notify) at the first instruction of a handler: the signal that was passed on with
    // the step took the thread off the breakpoint, and it will come back.
    if (info->si_code == SIGTRAP) {
      thread.left_by_signal = thread.leaving;
      return finish();
    }
    on_signal(process, thread, SIGTRAP);
    return finish();
  }
  if (const auto* stop = std::get_if<signal_stop>(&status)) {
    thread.signal = stop->signal;
    return let_run(process, thread);
  }
  if (const auto* stop = std::get_if<group_stop>(&status)) {
    // It cannot step before SIGCONT. The others must take part in the group stop; this one steps afterwards.
    thread.stepping = false;
    on_group_stop(process, thread, stop->signal);
    return begin_stepping(process);
  }
  if (const auto* birth = std::get_if<birth_stop>(&status)) on_birth(process, thread, birth->by);
  if (std::holds_alternative<vfork_done_stop>(status)) on_vfork_done(process, thread);
  if (std::holds_alternative<trap_stop>(status)) {
    const auto at = arch::program_counter(calls_, thread.id);
    if (at && thread.standing_on != *at) {
      if (reports_trap_first(process, thread)) return;
      return finish();
    }
  }
  let_run(process, thread);
}

}  // namespace mpiacq::tracing
