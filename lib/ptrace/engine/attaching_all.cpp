// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Attaches to many processes at once.
//
// All checks of the processes precede the first seize. Then all threads of all processes are seized, then all are
// interrupted, and then their stops are collected. A process with an unusual condition (a thread that ends just now,
// another tracer, no permission) is attached to alone, see attaching.cpp.
#include <algorithm>

#include <sys/ptrace.h>

#include "client/attach_error.hpp"
#include "engine/attaching.hpp"
#include "engine/fork_reports.hpp"
#include "engine/shared_answer.hpp"
#include "errors/try.hpp"
#include "kernel/thread_seizer.hpp"

namespace mpiacq::tracing {

void attaching::attach_all(const std::vector<attach_target>& targets, attach_options options,
                           reply<std::vector<result<void>>> answer) {
  if (targets.empty()) return answer({});
  auto* const all = shared_answer::create(targets.size(), std::move(answer));
  folders_.drop_ended();
  std::vector<traced_process*> begun;
  begun.reserve(targets.size());
  tracees_.reserve_more(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    auto process = begin(targets[i], options);
    if (process) {
      (*process)->attaching->answer = all->part(i);
      begun.push_back(*process);
    } else {
      all->put(i, fail(std::move(process).error()));
    }
  }
  thread_seizer seizer(kernel_.calls, 0, false);
  const auto slow = std::stable_partition(begun.begin(), begun.end(),
                                          [&](traced_process* process) { return seize_quickly(*process, seizer); });
  stop_all(std::span(begun.begin(), slow));
  // This can erase the process, but no other one.
  std::for_each(slow, begun.end(), [&](traced_process* process) { go_on(*process); });
}

result<traced_process*> attaching::begin(const attach_target& target, attach_options options) {
  const std::int64_t number = target.process.value();
  const auto id = static_cast<pid_t>(number);
  const bool is_known = id == number && id > 0 && folders_.know(id, target.start_time);
  if (!is_known) {
    if (auto why_not = not_to_be_attached(number)) return fail(std::move(*why_not));
    if (target.start_time && read_start_time(id) != target.start_time) return fail(replaced_process(id));
  }
  if (target.user && folders_.effective_user(id) != *target.user) return fail(other_users_process(id, *target.user));
  traced_process* const begun = TRY(begin(id, options));
  begun->attaching->start_time = target.start_time;
  begun->attaching->user = target.user;
  begun->attaching->is_known = is_known;
  return begun;
}

/// Seizes all threads of a process without unusual conditions. False if the process must be attached to alone.
bool attaching::seize_quickly(traced_process& process, thread_seizer& seizer) {
  // A process that was released earlier may have threads that have not stopped yet.
  if (!process.attaching->is_known || !process.threads.empty()) return false;
  const auto count = folders_.last_count(process.id);
  if (!count) return false;
  const unsigned long options = options_of(process);
  if (kernel_.calls.raw(PTRACE_SEIZE, process.id, 0, options) < 0) return false;
  tracees_.add_thread(process, process.id);
  if (*count == 1) return true;
  seizer.turn_to(process.id);
  for (const pid_t task : folders_.list(process.id)) {
    if (task != process.id && seizer.try_seize(task, options)) tracees_.add_thread(process, task);
  }
  for (const pid_t task : seizer.take_ended()) tracees_.drop_thread(process, task);
  return true;
}

/// Whether every thread is traced and has stopped, judged by their number alone. This is the last look of go_on: a
/// stopped thread neither makes threads nor ends. A leader that is still traced and stopped proves that no untraced
/// thread became the leader by an exec before the count: has_its_leader checks this, or answer_counted for many
/// processes.
bool attaching::has_all_by_count(const traced_process& process) {
  const auto leader = process.threads.find(process.id);
  const bool stopped =
      leader != process.threads.end() && std::all_of(process.threads.begin(), process.threads.end(),
                                                     [](const auto& entry) { return entry.second.is_stopped(); });
  if (!stopped) return false;
  return folders_.count_threads(process.id) == static_cast<int>(process.threads.size());
}

/// Whether the leader has stopped for this tracer and was not replaced.
bool attaching::has_its_leader(const traced_process& process) const {
  unsigned long message = 0;
  return kernel_.calls.raw(PTRACE_GETEVENTMSG, process.id, 0, reinterpret_cast<unsigned long>(&message)) >= 0;
}

/// Stops processes whose threads are all seized and not interrupted yet.
void attaching::stop_all(std::span<traced_process* const> all) {
  if (all.empty()) return;
  stops_.stop_many(all);
  answer_counted(stops_.end_stopping_many());
  if (some_thread_runs()) waiter::look_again();
}

/// A leader that another thread replaces by an exec has ended before, and the kernel signals its end to its tracer
/// before the other thread takes its place (exit_notify, de_thread). If no signal is pending, every process that was
/// counted has its own leader.
void attaching::answer_counted(bool some_task_ended) {
  for (const pid_t id : std::exchange(counted_, {})) {
    traced_process* const process = tracees_.find(id);
    if (process == nullptr || !process->attaching || process->now != phase::stopping) continue;
    if (some_task_ended) {
      go_on(*process);
    } else {
      finish(*process);
    }
  }
}

bool attaching::some_thread_runs() const {
  return !children_.empty() || tracees_.any_of([](const traced_process& process) {
    return std::any_of(process.threads.begin(), process.threads.end(),
                       [](const auto& entry) { return !entry.second.is_stopped(); });
  });
}

}  // namespace mpiacq::tracing
