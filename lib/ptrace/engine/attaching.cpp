// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Taking hold of a process that runs already, with all its threads.
//
// Each thread is seized and interrupted. New threads of a thread that we have come attached by themselves; those that
// one makes which we do not have yet are found in /proc: we look again and again until a look finds none that is new.
// Once all that are known have stopped we look a last time. Whoever is stopped neither makes threads nor ends, so this
// look misses nothing, and where it finds nobody new, nobody runs.
#include <algorithm>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "client/attach_error.hpp"
#include "engine/engine.hpp"
#include "engine/thread_seizer.hpp"
#include "engine/tracing_options.hpp"
#include "engine/waiter.hpp"

namespace mpiacq::tracing {

namespace {

using namespace std::chrono_literals;

/// It was let go of, but for the end of a child, or for threads that had not stopped by then: a leader that has ended
/// before the others, one that the kernel keeps, one that is dying.
bool is_left(const traced_process& process) {
  return process.now == phase::released || process.now == phase::leaving;
}

std::vector<pid_t> known_threads(const traced_process& process) {
  std::vector<pid_t> all;
  for (const auto& [task, thread] : process.threads) all.push_back(task);
  return all;
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
  const auto begun = begin_attach(static_cast<pid_t>(id.value()), options);
  if (!begun) return answer(fail(begun.error()));
  (*begun)->attaching->answer = std::move(answer);
  go_on_attaching(**begun);
}

/// It is there as one that is being attached to, and no thread of it is ours yet, unless it was left late.
result<traced_process*> engine::begin_attach(pid_t number, attach_options options) {
  if (number == own_id_) {
    return fail(error_code::invalid_argument, fmt::format("attach to {}: a program cannot trace itself", number));
  }
  const auto known = processes_.find(number);
  if (newborn_.contains(number) || (known != processes_.end() && !is_left(known->second))) {
    return fail(error_code::busy,
                fmt::format("attach to {} ({}): this tracer traces it already", number, command_name(number)));
  }
  if (known != processes_.end()) {
    traced_process fresh;
    fresh.launched = known->second.launched;
    fresh.had_breakpoints = known->second.had_breakpoints;
    fresh.past_traps = std::move(known->second.past_traps);
    fresh.threads = std::move(known->second.threads);
    for (auto& [task, thread] : fresh.threads) thread.late = false;  // asked to stop it is already
    known->second = std::move(fresh);
  }
  lost_.erase(process_id{number});
  traced_process& process = known != processes_.end() ? known->second : processes_[number];
  process.id = number;
  process.now = phase::stopping;
  process.follow_children = process.sees_forks = options.follow_children;
  attach_request& request = process.attaching.emplace();
  request.options = options;
  request.until = clock::now() + options_.stop_limit;
  return &process;
}

/// Every thread that is known has stopped, or there is none yet.
void engine::go_on_attaching(traced_process& process) {
  attach_request& request = *process.attaching;
  if (process.detaching && !request.failure) request.failure = given_up(process.id);
  if (request.failure) return undo_attach(process);
  // What the batch could not take hold of the quick way (attaching_all.cpp) comes here without a thread.
  if (process.threads.empty() && is_another(process)) request.failure = replaced_process(process.id);
  if (has_all_by_count(process)) {
    if (stops_are_silent_) return counted_.push_back(process.id);
    if (has_its_leader(process)) return finish_attach(process);
  }
  bool all_found = request.failure.has_value();
  while (!all_found) {
    const auto news = catch_new_threads(process);
    if (!news) {
      request.failure = news.error();
    } else if (!*news && process.threads.empty() && has_ended(process.id)) {
      request.failure = ended_meanwhile(process.id);
    } else if ((*news || process.threads.empty()) && clock::now() >= request.until) {
      request.failure = too_many_threads(process.id, options_.stop_limit);
    }
    all_found = request.failure || (!*news && !process.threads.empty());
  }
  if (!all_stopped(process)) return await_stop(process);
  if (!request.failure && is_another(process)) request.failure = replaced_process(process.id);
  if (request.failure) return undo_attach(process);
  finish_attach(process);
}

/// A thread that is not ours yet execs: it is the leader then, and the one that we had is gone without a word.
bool engine::has_lost_leader(const traced_process& process) const {
  const auto known = process.threads.find(process.id);
  if (known == process.threads.end()) return false;
  const auto leader = read_task_status(process.id);
  if (!leader) return true;
  const bool alive = leader->state != 'Z' && leader->state != 'X';
  if (leader->tracer != ::gettid()) return true;
  if (known->second.zombie) return alive;
  return known->second.state == thread_state::stopped &&
         (!calls_.event_message(process.id) || waiter::has_news_of(process.id));
}

/// While stops are waited for: a leader that is not ours any more will not report one.
bool engine::look_for_new_leader(traced_process& process) {
  if (!process.attaching || !has_lost_leader(process)) return false;
  go_on_attaching(process);
  return true;
}

/// One look at the list. True where it has shown a thread that was not known.
result<bool> engine::catch_new_threads(traced_process& process) {
  // The list comes first. Whoever takes the leader's place later stands in it, and is not known; whoever has taken it
  // before is found out by the look at the leader.
  std::vector<pid_t> listed = list_threads(process.id);
  std::sort(listed.begin(), listed.end());
  if (has_lost_leader(process)) drop_thread(process, process.id);
  // One that is not there any more has taken the leader's place, or the whole process has ended without its leader.
  // That it is not listed does not show it yet: a list that is read while threads end may leave out one that lives.
  for (const pid_t task : known_threads(process)) {
    const bool is_listed = std::binary_search(listed.begin(), listed.end(), task);
    if (!is_listed && !is_thread_of(process.id, task)) drop_thread(process, task);
  }
  bool news = false;
  thread_seizer seizer(calls_, process.id, !process.threads.empty());
  result<void> outcome;
  for (const pid_t task : listed) {
    if (process.threads.contains(task)) continue;
    const auto what = catch_thread(process, task, seizer);
    if (!what) {
      outcome = fail(what.error());
      break;
    }
    // A dead leader stays in the list.
    if (*what == caught::yes || *what == caught::gone) news = true;
  }
  for (const pid_t task : seizer.take_ended()) drop_thread(process, task);
  if (!outcome) return fail(std::move(outcome).error());
  return news;
}

void engine::drop_thread(traced_process& process, pid_t task) {
  process.threads.erase(task);
  process_of_.erase(task);
}

result<engine::caught> engine::catch_thread(traced_process& process, pid_t task, thread_seizer& seizer) {
  // The kernel says EPERM also of a thread that is just ending, or giving its number to another one that execs, and a
  // tracer that stood in the way may have gone before it could be named: what is left then is tried again.
  constexpr int tries = 20;
  result<void> seized;
  for (int i = 0; i < tries; ++i) {
    seized = seizer.seize(task, process.sees_forks ? base_options | fork_options : base_options);
    // The one that can be interrupted is there. That spares a crowd of threads a look at each of them.
    if (seized && calls_.interrupt(task)) {
      add_thread(process, task);
      expected_.push_back(task);
      return caught::yes;
    }
    const auto about = read_task_status(task);
    if (!about) {
      // What was seized may have been in the middle of an exec, and go by the leader's number now.
      if (seized) static_cast<void>(calls_.interrupt(process.id));
      return caught::gone;
    }
    if (seized || about->tracer == ::gettid()) {
      // It may have come with the one that made it, or with an exec. Whether it is new or has ended, it will report.
      add_thread(process, task);
      static_cast<void>(calls_.interrupt(task));
      return caught::yes;
    }
    if (seized.error().code == error_code::busy) break;
    if (about->state == 'Z' || about->state == 'X') return caught::dead;
    if (seized.error().code == error_code::process_gone) {
      if (task != process.id) return caught::gone;
      return fail(foreign_process_folder(task));
    }
    if (task != process.id && is_kernel_worker(task)) return caught::not_the_programs;
    std::this_thread::sleep_for(100us);
  }
  return fail(std::move(seized).error());
}

/// The process has ended in the middle of it.
void engine::end_attach(traced_process& process) {
  const auto request = std::exchange(process.attaching, std::nullopt);
  if (request) request->answer(fail(request->failure.value_or(ended_meanwhile(process.id))));
}

void engine::finish_attach(traced_process& process) {
  // An exec of a set-user-ID program may have come between the first look at its user and the stop.
  const auto wanted = process.attaching->user;
  if (wanted && folders_.effective_user(process.id) != *wanted) {
    process.attaching->failure = other_users_process(process.id, *wanted);
    return undo_attach(process);
  }
  const attach_request request = *std::exchange(process.attaching, std::nullopt);
  become_held(process);
  request.answer({});
}

/// All that stopped is let go; what did not stop in time goes when it does.
void engine::undo_attach(traced_process& process) {
  const pid_t id = process.id;
  attach_request request = *std::exchange(process.attaching, std::nullopt);
  const bool has_met_rival = request.failure->code == error_code::busy && !process.threads.empty();
  const bool tries_again = has_met_rival && request.tries_left > 0 && !process.detaching;
  static_cast<void>(take_out_all(process));
  process.now = phase::leaving;
  detach_stopped_threads(process);
  end_detach(process, {});
  leave_if_empty(process);
  if (tries_again) return attach_later(id, std::move(request));
  request.answer(fail(*request.failure));
}

/// Two tracers that attach at the same time begin with the same thread, and one of them gets it. If that thread ends at
/// this moment, each tracer can hold threads that the other one needs. Both release theirs then, and try again after
/// times that differ.
void engine::attach_later(pid_t id, attach_request request) {
  constexpr unsigned longest = 16;  // milliseconds
  const std::chrono::milliseconds pause{1 + std::random_device{}() % longest};
  delayed_attaches_.push_back({id, clock::now() + pause, std::move(request)});
}

void engine::begin_delayed_attaches(clock::time_point now) {
  // An attempt may have to be made once more later, and is put back into the list then.
  std::vector<delayed_attach> due;
  for (delayed_attach& one : std::exchange(delayed_attaches_, {})) {
    (one.when <= now ? due : delayed_attaches_).push_back(std::move(one));
  }
  for (delayed_attach& one : due) {
    const auto begun = begin_attach(one.id, one.request.options);
    if (!begun) {
      one.request.answer(fail(begun.error()));
      continue;
    }
    --one.request.tries_left;
    one.request.failure.reset();
    (*begun)->attaching = std::move(one.request);
    go_on_attaching(**begun);
  }
}

void engine::give_up_delayed_attaches() {
  for (const delayed_attach& one : std::exchange(delayed_attaches_, {})) one.request.answer(fail(given_up(one.id)));
}

}  // namespace mpiacq::tracing
