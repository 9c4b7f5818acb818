// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// The control of a job by PMIx. The tracer holds ranks when the caller asks for it; the starter runs all the time.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include <poll.h>

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
  if (job.facts.job_id) starter().interface->belongs_to({*job.facts.job_id, job.facts.step_id});
  for (const error& problem : job.problems) events.notice(problem);
  take_table(job.processes);
  (void)life.take_first_table();
  events.add(job_attached{});
  timers.set(job_timer::table, between_questions);
}

void job::state::look_at_pmix(bool asks) {
  auto found = pmix->look(asks && life.is_controlled());
  for (error& one : found.notices) events.notice(std::move(one));
  if (found.table && life.is_controlled()) {
    take_table(std::move(found.table));
    events.add(job_spawned{});
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
  if (events.has_events() || life.has_ended()) return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now());
  constexpr std::int64_t longest = 60'000;
  pollfd any{pmix->descriptor(), POLLIN, 0};
  if (left.count() > 0) (void)::poll(&any, 1, static_cast<int>(std::min<std::int64_t>(left.count(), longest)));
  return control->wait(clock::now());
}

}  // namespace mpiacq
