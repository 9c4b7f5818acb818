// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Taking hold of a process that runs already, with all its threads.
//
// Each thread is seized and interrupted. New threads of a thread that we have come attached by themselves; those that
// one makes which we do not have yet are found in /proc: we look again and again until a look finds none that is new.
// Once all that are known have stopped we look a last time. Whoever is stopped neither makes threads nor ends, so this
// look misses nothing, and where it finds nobody new, nobody runs.
#include <algorithm>
#include <csignal>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include "attach_error.hpp"
#include "engine.hpp"
#include "thread_seizer.hpp"
#include "tracing_options.hpp"

namespace mpiacq::tracing {

namespace {

std::vector<pid_t> held_beside_leader(const traced_process& process) {
  std::vector<pid_t> held;
  for (const auto& [task, thread] : process.threads) {
    if (task != process.id) held.push_back(task);
  }
  return held;
}

/// A process that was let go of, and of which we only still have what cannot be let go of: the end of a child, or a
/// leader that has ended before its other threads.
bool is_left(const traced_process& process) {
  return process.now == phase::released ||
         (process.now == phase::leaving &&
          std::all_of(process.threads.begin(), process.threads.end(), [](const auto& e) { return e.second.zombie; }));
}

error ended_meanwhile(pid_t process) {
  return {error_code::process_gone, fmt::format("attach to {}: it has ended meanwhile", process)};
}

error given_up(pid_t process) {
  return {error_code::process_gone, fmt::format("attach to {}: the tracer lets go of everything", process)};
}

error too_many_threads(pid_t process, std::chrono::milliseconds limit) {
  return {error_code::timed_out,
          fmt::format("attach to {} ({}): its threads could not all be caught within {} ms, because it makes new ones "
                      "faster; stop it first (kill -STOP {})",
                      process, command_name(process), limit.count(), process)};
}

}  // namespace

void engine::attach(process_id id, attach_options options, reply<void> answer) {
  if (auto why_not = not_to_be_attached(id.value())) return answer(fail(std::move(*why_not)));
  const auto number = static_cast<pid_t>(id.value());
  if (number == ::getpid()) {
    return answer(
        fail(error_code::invalid_argument, fmt::format("attach to {}: a program cannot trace itself", number)));
  }
  const auto known = processes_.find(number);
  if (newborn_.contains(number) || (known != processes_.end() && !is_left(known->second))) {
    return answer(fail(error_code::busy,
                       fmt::format("attach to {} ({}): this tracer traces it already", number, command_name(number))));
  }
  traced_process fresh;
  fresh.id = number;
  if (known != processes_.end()) {
    fresh.launched = known->second.launched;
    fresh.threads = std::move(known->second.threads);
  }
  fresh.now = phase::stopping;
  fresh.attaching = attach_request{options, std::move(answer), clock::now() + options_.stop_limit, std::nullopt};
  processes_[number] = std::move(fresh);
  go_on_attaching(processes_[number]);
}

/// Every thread that is known has stopped, or there is none yet.
void engine::go_on_attaching(traced_process& process) {
  attach_request& request = *process.attaching;
  if (process.detaching && !request.failure) request.failure = given_up(process.id);
  if (request.failure) return undo_attach(process);
  bool all_found = false;
  while (!all_found) {
    const auto news = catch_new_threads(process);
    if (!news) request.failure = news.error();
    if (news && *news && clock::now() >= request.until) {
      request.failure = too_many_threads(process.id, options_.stop_limit);
    }
    all_found = request.failure || !*news;
  }
  if (process.threads.empty() && !request.failure) request.failure = ended_meanwhile(process.id);
  if (!all_stopped(process)) return await_stop(process);
  if (request.failure) return undo_attach(process);
  finish_attach(process);
}

/// One look at the list. True where it has shown a thread that was not known.
result<bool> engine::catch_new_threads(traced_process& process) {
  bool news = false;
  thread_seizer seizer(calls_, held_beside_leader(process));
  result<void> outcome;
  for (const pid_t task : list_threads(process.id)) {
    if (process.threads.contains(task)) continue;
    const auto what = catch_thread(process, task, seizer);
    if (!what) {
      outcome = fail(what.error());
      break;
    }
    // A leader that has ended stays in the list.
    if (*what == caught::yes || (*what == caught::dead && task != process.id)) news = true;
  }
  for (const pid_t task : seizer.take_ended()) {
    process.threads.erase(task);
    process_of_.erase(task);
  }
  if (!outcome) return fail(std::move(outcome).error());
  return news;
}

result<engine::caught> engine::catch_thread(traced_process& process, pid_t task, thread_seizer& seizer) {
  // A tracer that refuses us may have gone before it could be named; then there is nothing against another try.
  constexpr int tries = 3;
  result<void> seized;
  for (int i = 0; i < tries; ++i) {
    seized = seizer.seize(process.id, task, base_options);
    if (seized) {
      add_thread(process, task);
      static_cast<void>(calls_.interrupt(task));
      return caught::yes;
    }
    const auto about = read_task_status(task);
    if (!about || about->state == 'Z' || about->state == 'X') return caught::dead;
    if (about->tracer == ::gettid()) {
      // It came with the one that made it, and stops by itself.
      add_thread(process, task);
      return caught::yes;
    }
    if (seized.error().code == error_code::process_gone) {
      if (task != process.id) return caught::dead;
      return fail(foreign_process_folder(task));
    }
    if (seized.error().code == error_code::busy) break;
    if (task != process.id && is_kernel_worker(task)) return caught::not_the_programs;
    ::sched_yield();
  }
  return fail(std::move(seized).error());
}

/// The process has ended in the middle of it.
void engine::end_attach(traced_process& process) {
  const auto request = std::exchange(process.attaching, std::nullopt);
  if (request) request->answer(fail(request->failure.value_or(ended_meanwhile(process.id))));
}

void engine::finish_attach(traced_process& process) {
  const attach_request request = *std::exchange(process.attaching, std::nullopt);
  process.now = phase::held;
  request.answer({});
}

/// All that stopped is let go; what did not stop in time goes when it does.
void engine::undo_attach(traced_process& process) {
  const attach_request request = *std::exchange(process.attaching, std::nullopt);
  static_cast<void>(take_out_all(process));
  process.now = phase::leaving;
  detach_stopped_threads(process);
  end_detach(process, {});
  leave_if_empty(process);
  request.answer(fail(*request.failure));
}

}  // namespace mpiacq::tracing
