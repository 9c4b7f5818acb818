// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/watch_session.hpp"

#include <utility>
#include <variant>

#include "commands/complaints.hpp"
#include "commands/exit_status.hpp"
#include "errors/try.hpp"
#include "mpiacq/job/job.hpp"
#include "sessions/handover.hpp"
#include "sessions/ranks_look.hpp"
#include "sessions/session_wait.hpp"

namespace mpiacq::tool {

namespace {

/// Takes control of the job whose starter is this process. Waits for the table, which the job had before.
result<std::unique_ptr<job>> controlled(process_id starter, const watch_options& options) {
  auto subject = TRY(job::attach(starter, job_options_of(options)));
  const deadline until = clock::now() + patience_of_a_person;
  while (clock::now() < until) {
    const auto event = TRY(subject->next(until));
    if (event && std::holds_alternative<job_attached>(*event)) return subject;
  }
  return fail(error_code::timed_out, "the starter shows no process table any more");
}

/// Ends the job, and waits for its end.
result<int> end_job(const job_description& watched, const watch_options& options) {
  const auto subject = TRY(controlled(watched.starter.pid, options));
  TRY(subject->end());
  for (;;) {
    const auto event = TRY(subject->next());
    if (event && std::holds_alternative<starter_ended>(*event)) return status_ended_by_watch;
  }
}

/// Leaves the job stopped for another tool.
result<int> stop_job(const job_description& watched, const watch_options& options) {
  const auto subject = TRY(controlled(watched.starter.pid, options));
  for (const rank_hold& outcome : subject->hold_ranks()) {
    if (outcome.why) complain(*outcome.why);
  }
  TRY(subject->detach(leave::stopped));
  complain_in_lines(left_stopped(*subject, ranks_handed_over(*subject, options.ranks.selection)));
  return status_ok;
}

}  // namespace

result<int> watch_running_job(const watch_options& options, job_watcher& watcher, signal_catcher& signals) {
  observation_options how{static_cast<const rank_command_options&>(options), options.report, options.job,
                          patience_of_a_person.count()};
  auto look = look_for_ranks(how, signals);
  // A signal that asks for a report has ended the search for the ranks.
  if (!look && options.watch.signal != 0 && look.error() == status_by_signal(options.watch.signal)) {
    (void)watcher.takes(options.watch.signal);
    look = look_for_ranks(how, signals);
  }
  if (!look) return look.error();
  const job_description watched = look->job;
  watcher.begin(std::move(*look));
  while (!watcher.have_ranks_ended()) {
    wait_for_any({signals.descriptor(), watcher.descriptor()}, watcher.wake_at());
    if (const auto signal = signals.take(); signal && !watcher.takes(signal->number)) {
      return status_by_signal(signal->number);
    }
    if (!watcher.serve()) continue;
    if (options.after == then::kill) return end_job(watched, options);
    if (options.after == then::stop) return stop_job(watched, options);
  }
  return status_ok;
}

}  // namespace mpiacq::tool
