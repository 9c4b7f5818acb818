// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/stop_collector.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/ptrace.h>

namespace mpiacq::tracing {

namespace {

using namespace std::chrono_literals;

constexpr auto leader_interval = 10ms;
/// Leaders that become zombies are rare, and while many processes stop it takes a moment to collect all stops.
constexpr auto more_among_many = 100ms;

/// The number of running threads in a row that are asked for before a signal is awaited.
constexpr int most_asked_in_vain = 8;
/// How often the tracer server yields its core to running threads, as long as that makes progress.
constexpr int most_rounds = 64;

}  // namespace

void stop_collector::begin(traced_process& process) {
  for (auto& [task, thread] : process.threads) {
    if (thread.is_stopped()) continue;
    // A thread that is being killed reports its end. A late thread was interrupted already.
    if (!thread.late && kernel_.calls.interrupt(task)) expect(task);
    // An interrupted listener reports a stop again, with the signal of its group stop.
    thread.state = thread_state::running;
  }
  await(process);
}

void stop_collector::await(traced_process& process) {
  process.now = phase::stopping;
  const auto now = clock::now();
  process.give_up = now + options_.stop_limit;
  if (process.threads.size() > 1 || process.attaching) process.look_at_leader = now + leader_interval;
}

stop_collector::expected stop_collector::ask(pid_t task) {
  const traced_process* const process = tracees_.with_thread(task);
  if (process == nullptr || process->now != phase::stopping) return expected::not_awaited;
  const auto thread = process->threads.find(task);
  const bool awaited = thread != process->threads.end() && thread->second.state == thread_state::running;
  if (!awaited) return expected::not_awaited;
  const auto report = waiter::next_of(task);
  if (!report) return expected::silent;
  sink_.on_status(report->task, report->status);
  // The end of a thread can change its leader's state. The kernel sends no signal for that if the program's exit signal
  // is 0.
  if (std::holds_alternative<ended>(report->status)) waiter::look_again();
  return expected::told;
}

void stop_collector::take_expected() {
  std::vector<pid_t> asked;
  asked.swap(expected_);
  int in_vain = 0;
  for (auto task = asked.begin(); task != asked.end(); ++task) {
    if (in_vain == most_asked_in_vain) {
      expected_.insert(expected_.end(), task, asked.end());
      return;
    }
    const expected outcome = ask(*task);
    if (outcome == expected::told) in_vain = 0;
    if (outcome != expected::silent) continue;
    expected_.push_back(*task);
    ++in_vain;
  }
}

void stop_collector::stop_many(std::span<traced_process* const> all) {
  is_stopping_many_ = true;
  waiter::signal_stops(false);
  for (traced_process* const process : all) {
    for (const auto& [task, thread] : process->threads) {
      static_cast<void>(kernel_.calls.raw(PTRACE_INTERRUPT, task, 0, 0));
      expect(task);
    }
    await(*process);
    process->look_at_leader += more_among_many;
  }
  std::size_t missing = 0;
  for (int round = 0; round < most_rounds; ++round) {
    take_expected();
    if (expected_.empty() || expected_.size() == missing) break;
    missing = expected_.size();
    ::sched_yield();
  }
}

bool stop_collector::end_stopping_many() {
  const bool some_task_ended = waiter::is_signalled();
  waiter::signal_stops(true);
  is_stopping_many_ = false;
  return some_task_ended;
}

void stop_collector::give_up(traced_process& process) {
  process.give_up = no_deadline;
  std::vector<pid_t> missing;
  for (auto& [task, thread] : process.threads) {
    if (!process.awaits(thread)) continue;
    thread.late = true;
    missing.push_back(task);
  }
  events_.report_problem(
      process.id,
      {error_code::timed_out, fmt::format("process {}: thread {} did not stop within {} ms (waiting in the kernel, or "
                                          "in vfork); it stops when it comes back from there",
                                          process.id, fmt::join(missing, ", "), options_.stop_limit.count())});
}

bool stop_collector::leader_is_dead(traced_process& process) {
  const auto leader = process.threads.find(process.id);
  if (leader != process.threads.end() && !leader->second.is_stopped()) {
    const auto status = kernel_.tasks.status(process.id);
    if (!status || status->state == 'Z' || status->state == 'X') {
      leader->second.zombie = true;
      return true;
    }
  }
  process.look_at_leader = clock::now() + leader_interval;
  return false;
}

}  // namespace mpiacq::tracing
