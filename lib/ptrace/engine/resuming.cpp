// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/resuming.hpp"

#include <algorithm>
#include <utility>

#include "kernel/pending_trap.hpp"

namespace mpiacq::tracing {

// A call that finds no thread is not an error: the thread is being killed, and the wait reports its end.

void resuming::run(traced_process& process) {
  process.give_up = no_deadline;
  const bool steps = std::any_of(process.threads.begin(), process.threads.end(), [&](const auto& entry) {
    return entry.second.group_stop == 0 && process.must_step(entry.second);
  });
  if (!steps || !step_next(process)) arm_and_run(process);
}

bool resuming::step_next(traced_process& process) {
  process.now = phase::stepping;
  for (auto& [task, thread] : process.threads) {
    if (!thread.is_stopped() || thread.group_stop != 0 || !process.must_step(thread)) continue;
    thread.stepping = true;
    thread.leaving = {*thread.standing_on, arch::stack_pointer(calls_, task).value_or(target_address{})};
    process.give_up = clock::now() + options_.stop_limit;
    run_thread(process, thread);
    return true;
  }
  process.give_up = no_deadline;
  return false;
}

void resuming::arm_and_run(traced_process& process) {
  process.now = phase::running;
  guard_.tell(process);
  breakpoints_.put_back_software(process);
  for (auto& [task, thread] : process.threads) run_thread(process, thread);
}

void resuming::run_thread(traced_process& process, traced_thread& thread) {
  if (!thread.is_stopped()) return;
  if (thread.registers_due && !thread.stepping && !thread.end) breakpoints_.arm_registers(process, thread);
  if (thread.group_stop != 0) return stay_in_group_stop(thread);
  const int signal = std::exchange(thread.signal, 0);
  thread.state = thread_state::running;
  if (thread.stepping) {
    breakpoints_.arm_for_step(process, thread);
    static_cast<void>(calls_.step(thread.id, signal));
    return;
  }
  thread.standing_on.reset();
  static_cast<void>(calls_.resume(thread.id, signal));
}

/// Keeps the thread stopped as the user wants it. SIGCONT causes a new stop, even if it was sent earlier.
void resuming::stay_in_group_stop(traced_thread& thread) {
  const bool listens = calls_.listen(thread.id).has_value();
  thread.state = listens ? thread_state::listening : thread_state::running;
  if (listens) return;
  // The kernel refuses to listen after a stop of another kind (a signal that came with the interrupt). The thread is
  // interrupted and continued, so that it reports the group stop.
  static_cast<void>(calls_.interrupt(thread.id));
  static_cast<void>(calls_.resume(thread.id, std::exchange(thread.signal, 0)));
}

bool resuming::run_into_pending_trap(const traced_process& process, traced_thread& thread) {
  if (process.breakpoints.all.empty() && process.now != phase::leaving) return false;
  if (!trap_is_pending(calls_, thread.id)) return false;
  thread.state = thread_state::running;
  static_cast<void>(calls_.resume(thread.id, 0));
  return true;
}

void resuming::interrupt_step(traced_process& process) {
  process.give_up = clock::now() + options_.stop_limit;
  for (const auto& [task, thread] : process.threads) {
    if (thread.stepping) static_cast<void>(calls_.interrupt(task));
  }
}

}  // namespace mpiacq::tracing
