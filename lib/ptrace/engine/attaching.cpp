// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "engine/attaching.hpp"

#include <utility>

#include <fmt/format.h>

#include "client/attach_error.hpp"
#include "errors/try.hpp"

namespace mpiacq::tracing {

namespace {

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

/// The remains of a released process for a new attach: it has threads left, or is a child whose end will be reported.
traced_process what_is_left(traced_process& known) {
  traced_process fresh;
  fresh.launched = known.launched;
  fresh.breakpoints.had_any = known.breakpoints.had_any;
  fresh.breakpoints.past_traps = std::move(known.breakpoints.past_traps);
  fresh.threads = std::move(known.threads);
  for (auto& [task, thread] : fresh.threads) thread.late = false;  // it was interrupted already
  return fresh;
}

}  // namespace

void attaching::attach(process_id id, attach_options options, reply<void> answer) {
  if (auto why_not = not_to_be_attached(id.value())) return answer(fail(std::move(*why_not)));
  const auto begun = begin(static_cast<pid_t>(id.value()), options);
  if (!begun) return answer(fail(begun.error()));
  (*begun)->attaching->answer = std::move(answer);
  go_on(**begun);
}

result<traced_process*> attaching::begin(pid_t number, attach_options options) {
  if (number == own_id_) {
    return fail(error_code::invalid_argument, fmt::format("attach to {}: a program cannot trace itself", number));
  }
  traced_process* const known = tracees_.find(number);
  if (children_.is_expected(number) || (known != nullptr && !known->is_let_go())) {
    return fail(error_code::busy,
                fmt::format("attach to {} ({}): this tracer traces it already", number, command_name(number)));
  }
  if (known != nullptr) *known = what_is_left(*known);
  tool_.forget_loss(number);
  traced_process& process = tracees_.make(number);
  process.now = phase::stopping;
  process.follow_children = process.sees_forks = options.follow_children;
  process.reports_end = options.report_end;
  attach_request& request = process.attaching.emplace();
  request.options = options;
  request.until = clock::now() + options_.stop_limit;
  return &process;
}

void attaching::go_on(traced_process& process) {
  attach_request& request = *process.attaching;
  if (process.detaching && !request.failure) request.failure = given_up(process.id);
  if (request.failure) return undo(process);
  // No thread of a process that attach_all could not seize quickly is known here.
  if (process.threads.empty() && is_another(process)) request.failure = replaced_process(process.id);
  if (has_all_by_count(process)) {
    if (stops_.is_stopping_many()) return counted_.push_back(process.id);
    if (has_its_leader(process)) return finish(process);
  }
  if (!request.failure) catch_all_threads(process);
  if (!process.is_stopped_but_for_late_threads()) return stops_.await(process);
  if (!request.failure && is_another(process)) request.failure = replaced_process(process.id);
  if (request.failure) return undo(process);
  finish(process);
}

/// Reads the list of threads until it shows no new one, or the attach fails.
void attaching::catch_all_threads(traced_process& process) {
  attach_request& request = *process.attaching;
  while (true) {
    const auto news = catch_new_threads(process);
    const bool has_none = process.threads.empty();
    if (!news) {
      request.failure = news.error();
    } else if (!*news && has_none && has_ended(process.id)) {
      request.failure = ended_meanwhile(process.id);
    } else if ((*news || has_none) && clock::now() >= request.until) {
      request.failure = too_many_threads(process.id, options_.stop_limit);
    }
    if (request.failure || (!*news && !has_none)) return;
  }
}

bool attaching::look_for_new_leader(traced_process& process) {
  if (!process.attaching || !has_lost_leader(process)) return false;
  go_on(process);
  return true;
}

/// Whether the pid belonged to another process at the time of the request.
bool attaching::is_another(const traced_process& process) {
  const attach_request& request = *process.attaching;
  if (!request.start_time || (request.is_known && folders_.count_threads(process.id))) return false;
  const auto now = read_start_time(process.id);
  return now && now != request.start_time;
}

void attaching::end(traced_process& process) {
  const auto request = std::exchange(process.attaching, std::nullopt);
  if (request) request->answer(fail(request->failure.value_or(ended_meanwhile(process.id))));
}

void attaching::finish(traced_process& process) {
  // The process may have executed a set-user-ID program between the first check of its user and the stop.
  const auto wanted = process.attaching->user;
  if (wanted && folders_.effective_user(process.id) != *wanted) {
    process.attaching->failure = other_users_process(process.id, *wanted);
    return undo(process);
  }
  const attach_request request = *std::exchange(process.attaching, std::nullopt);
  process.hold(clock::now());
  request.answer({});
}

/// Releases all stopped threads. A thread that did not stop in time is released when it stops.
void attaching::undo(traced_process& process) {
  const pid_t id = process.id;
  attach_request request = *std::exchange(process.attaching, std::nullopt);
  const bool has_met_rival = request.failure->code == error_code::busy && !process.threads.empty();
  const bool tries_again = has_met_rival && request.tries_left > 0 && !process.detaching;
  static_cast<void>(breakpoints_.remove_all(process));
  process.now = phase::leaving;
  detaching_.let_go(process);
  detaching::answer(process, {});
  detaching_.end_if_empty(process);
  if (tries_again) return retries_.add(id, clock::now(), std::move(request));
  request.answer(fail(*request.failure));
}

void attaching::retry_due(clock::time_point now) {
  // A retry that meets the other tracer again is put back.
  for (auto& [process, when, request] : retries_.take_due(now)) {
    const auto begun = begin(process, request.options);
    if (!begun) {
      request.answer(fail(begun.error()));
      continue;
    }
    --request.tries_left;
    request.failure.reset();
    (*begun)->attaching = std::move(request);
    go_on(**begun);
  }
}

void attaching::give_up_retries() {
  for (const auto& [process, when, request] : retries_.take_all()) request.answer(fail(given_up(process)));
}

}  // namespace mpiacq::tracing
