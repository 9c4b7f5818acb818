// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/endings.hpp"

#include <algorithm>
#include <csignal>

#include "kernel/wait_status.hpp"

namespace mpiacq::tracing {

namespace {

using namespace std::chrono_literals;

constexpr auto look_interval = 10ms;
/// Bounds the reads of one look.
constexpr int most_seen_in_a_look = 64;
/// A thread that is being killed has SIGKILL pending until it takes the signal. From there to its exit stop it runs,
/// and needs a processor; it does not sleep.
constexpr int looks_if_asleep = 2;
constexpr int looks_if_running = 20;

bool is_sent_by_process(int code) {
  return code == SI_USER || code == SI_TKILL || code == SI_QUEUE;
}

bool has_fault(const siginfo_t& info) {
  const int signal = info.si_signo;
  return info.si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE);
}

bool is_last(const traced_process& process, const traced_thread& thread) {
  return std::all_of(process.threads.begin(), process.threads.end(), [&](const auto& entry) {
    const traced_thread& other = entry.second;
    return other.id == thread.id || other.end || other.zombie;
  });
}

const traced_thread* last_receiver_of(const traced_process& process, int signal) {
  const traced_thread* found = nullptr;
  for (const auto& [task, thread] : process.threads) {
    if (!thread.last_signal || thread.last_signal->signal != signal) continue;
    if (found == nullptr || found->last_signal->turn < thread.last_signal->turn) found = &thread;
  }
  return found;
}

const traced_thread* caller_of_exit_group(const traced_process& process) {
  for (const auto& [task, thread] : process.threads) {
    if (thread.end && thread.end->by == arch::exit_call::exit_group) return &thread;
  }
  return nullptr;
}

/// The threads that wait for the core file take the status before it is written, and only the receiver of the signal
/// has the final one.
bool has_dumped_core(const traced_process& process) {
  return std::any_of(process.threads.begin(), process.threads.end(),
                     [](const auto& entry) { return entry.second.end && entry.second.end->status.core_dumped; });
}

/// Null if the thread has gone, or runs on its last way.
const traced_thread* stopped_thread(const traced_process& process, pid_t task) {
  const auto found = process.threads.find(task);
  return found != process.threads.end() && found->second.end && found->second.is_stopped() ? &found->second : nullptr;
}

/// Any thread that is in its exit stop; null if there is none.
const traced_thread* any_stopped_thread(const traced_process& process) {
  for (const auto& [task, thread] : process.threads) {
    if (thread.end && thread.is_stopped()) return &thread;
  }
  return nullptr;
}

}  // namespace

void endings::on_signal(const traced_process& process, traced_thread& thread, int signal) {
  if (!process.reports_end) return;
  const auto info = kernel_.calls.signal_info(thread.id);
  const bool is_known = info && info->si_signo == signal;
  // A handler that has reported a fault sends the same signal to its own thread, to end the process: Open MPI does so.
  // The fault is the cause.
  const bool follows_fault = thread.last_signal && thread.last_signal->signal == signal && thread.last_signal->code > 0;
  if (is_known && follows_fault && info->si_code == SI_TKILL) {
    thread.last_signal->turn = ++turns_;
    return;
  }
  delivered_signal& last = thread.last_signal.emplace();
  last.signal = signal;
  last.turn = ++turns_;
  if (!is_known) return;
  last.code = info->si_code;
  if (is_sent_by_process(info->si_code)) last.sender = process_id{info->si_pid};
  if (has_fault(*info)) last.fault = target_address{reinterpret_cast<std::uintptr_t>(info->si_addr)};
}

void endings::on_exit_stop(traced_process& process, traced_thread& thread) const {
  thread_end& end = thread.end.emplace();
  end.status = decode_exit_status(static_cast<int>(kernel_.calls.event_message(thread.id).value_or(0)));
  end.by = arch::last_exit_call(kernel_.calls, thread.id).value_or(arch::exit_call::none);
  if (!process.reports_end || process.killed || process.ending) return;
  const bool last = is_last(process, thread);
  if (end.by == arch::exit_call::exit && !last) return;
  process_end& all = process.ending.emplace();
  all.first = thread.id;
  all.by_last_thread = last && end.by != arch::exit_call::exit_group && !end.status.signaled;
  all.look_at = clock::now() + look_interval;
}

process_ending endings::take(traced_process& process) const {
  process_end& all = *process.ending;
  all.reported = true;
  all.look_at = no_deadline;
  const traced_thread* shown = stopped_thread(process, all.first);
  if (shown == nullptr) shown = any_stopped_thread(process);
  process_ending event;
  if (shown == nullptr) return event;
  event.status = shown->end->status;
  // Linux 6.0 and later give the process the status of its last thread, and earlier versions that of its first one.
  if (all.by_last_thread && shown->id != process.id) {
    event.status = decode_exit_status(kernel_.tasks.exit_code(process.id));
  }
  event.status.core_dumped = event.status.signaled && has_dumped_core(process);
  const traced_thread* const by =
      event.status.signaled ? last_receiver_of(process, event.status.value) : caller_of_exit_group(process);
  if (by == nullptr && event.status.signaled) {
    // Nothing tells whose end this is.
    if (const traced_thread* const leader = stopped_thread(process, process.id)) shown = leader;
  }
  event.thread = thread_id{by == nullptr ? shown->id : by->id};
  if (by == nullptr || !event.status.signaled) return event;
  event.signal_code = by->last_signal->code;
  event.sender = by->last_signal->sender;
  event.fault = by->last_signal->fault;
  return event;
}

bool endings::is_refuted(traced_process& process) const {
  process_end& all = *process.ending;
  all.look_at = no_deadline;
  if (all.reported || process.is_let_go()) return false;
  int seen = 0;
  for (auto& [task, thread] : process.threads) {
    if (!process.awaits(thread) || ++seen > most_seen_in_a_look) continue;
    if (lives_on(process, thread)) return true;
  }
  all.look_at = clock::now() + look_interval;
  return false;
}

/// Whether the thread is not being killed, for some time already.
bool endings::lives_on(traced_process& process, traced_thread& thread) const {
  auto& counts = process.ending->lives_on;
  const auto status = kernel_.tasks.status(thread.id);
  const bool is_dead = !status || status->state == 'Z' || status->state == 'X';
  // No wait reports a leader that ends before other threads.
  if (is_dead && thread.id == process.id) thread.zombie = true;
  if (is_dead || status->has_kill_pending) {
    counts.erase(thread.id);
    return false;
  }
  const bool sleeps = status->state == 'S' || status->state == 'D';
  return ++counts[thread.id] >= (sleeps ? looks_if_asleep : looks_if_running);
}

}  // namespace mpiacq::tracing
