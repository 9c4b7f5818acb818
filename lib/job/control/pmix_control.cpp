// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The control of a job by PMIx. The tracer holds ranks when the caller asks for it; the starter runs all the time.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include <poll.h>
#include <sys/epoll.h>

#include "control/job_state.hpp"
#include "errors/try.hpp"

namespace mpiacq {

namespace {
/// No event announces processes that a job spawns: the server is asked so often.
constexpr std::chrono::seconds between_questions{1};
}  // namespace

void job::state::begin_pmix(std::unique_ptr<pmix_watch> watch) {
  pmix = std::move(watch);
  pmix->joined_with(control->event_descriptor());
  const job_description& job = pmix->first();
  starter().interface = make_untraced_interface(interface_kind::pmix, job.facts);
  for (const error& problem : job.problems) events.notice(problem);
  take_table(job.processes);
  (void)life.take_first_table();
  ask_for_daemons();
  events.add(job_attached{});
  timers.set(job_timer::table, between_questions);
}

void job::state::ask_starter_by_pmix() {
  auto answer = asking->ask(clock::now());
  if (answer && !*answer) return timers.set(job_timer::ranks, asking->interval());
  asking.reset();
  if (!answer) return give_up_source(std::move(answer).error());
  if (auto& watch = (*answer)->watch) {
    starter().interface = make_untraced_interface(interface_kind::pmix, (*answer)->job.facts);
    watch->joined_with(control->event_descriptor());
    watch->tell_only_failures();
    epoll_event what{};
    what.events = EPOLLIN;
    (void)::epoll_ctl(any.get(), EPOLL_CTL_ADD, watch->descriptor(), &what);
    pmix = std::move(watch);
    timers.set(job_timer::table, between_questions);
  }
  report_job(std::move((*answer)->job));
}

void job::state::ask_for_daemons() {
  if (!options.daemons) return;
  // A request that other ways can replace is one for agents. The group of the ranks starts them by PMIx itself, in
  // sessions of their own, so that the server does not start them a second time.
  const bool is_needed = !options.daemons->only_if_possible;
  result<void> done = fail(error_code::unsupported, "the starter has no interface that launches daemons");
  if (pmix && is_needed) done = pmix->launch_daemons(*options.daemons);
  mpir::job_facts known = starter().interface->facts();
  known.daemons = done ? mpir::daemon_launch::done : mpir::daemon_launch::refused;
  starter().interface = make_untraced_interface(starter().interface->kind(), std::move(known));
  if (done) {
    daemons.report();
  } else if (!options.daemons->only_if_possible) {
    events.notice(std::move(done).error());
  }
}

void job::state::give_up_source(error why) {
  events.notice_failure(withdraw(leave::running));
  awaited.reset();
  events.add(job_lost{std::move(why)});
}

int job::state::descriptor() const {
  if (any.is_open()) return any.get();
  return pmix ? pmix->descriptor() : control->event_descriptor();
}

void job::state::look_at_pmix(bool asks) {
  auto found = pmix->look(asks && life.is_controlled());
  for (error& one : found.notices) events.notice(std::move(one));
  if (found.table && life.is_controlled()) {
    take_table(std::move(found.table));
    events.add(job_spawned{});
  }
  if (found.has_ended && life.is_launched()) {
    // The tracer reports how the process that was launched ends.
    timers.clear(job_timer::table);
    pmix.reset();
    return;
  }
  if (found.has_ended) {
    starter().ended = true;
    life.process_ended(facts.pid, {});
    return finish();
  }
  if (asks && life.is_controlled()) timers.set(job_timer::table, between_questions);
}

result<std::optional<process_event>> job::state::wait_beside_pmix(deadline until) {
  auto event = TRY(control->wait(clock::now()));
  if (event) return event;
  look_at_pmix(false);
  if (events.has_events() || life.has_ended() || !pmix) return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
  constexpr std::int64_t longest = 60'000;
  pollfd either{pmix->descriptor(), POLLIN, 0};
  if (left.count() > 0) (void)::poll(&either, 1, static_cast<int>(std::min<std::int64_t>(left.count(), longest)));
  return control->wait(clock::now());
}

}  // namespace mpiacq
