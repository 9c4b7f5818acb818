// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/job_session.hpp"

#include <variant>

#include <fmt/format.h>

#include "commands/complaints.hpp"
#include "commands/exit_status.hpp"
#include "report/job_origin.hpp"
#include "sessions/each_rank.hpp"
#include "sessions/session_wait.hpp"

namespace mpiacq::tool {

job_session::job_session(job& subject, const job_command_options& options, agents_of_job& agents, report_file& report,
                         signal_catcher& signals)
    : job_(subject),
      agents_(agents),
      reporter_(subject, options.report, report),
      signals_(signals),
      table_by_(deadline_after(options.timeout)),
      hint_at_(clock::now() + patience_of_a_person),
      shared_(options) {}

int job_session::run() {
  std::optional<int> status;
  while (!status) {
    const auto event = job_.next(clock::now());
    if (!event) {
      complain(event.error());
      status = status_tool_failed;
    } else {
      status = *event ? handle(**event) : between_events();
    }
  }
  reporter_.expect_no_report();
  return *status;
}

void job_session::take_looks() {
  if (shared_.stacks) reporter_.take_stacks(job_, shared_, agents_);
  if (shared_.queues) reporter_.take_queues(job_, shared_, agents_);
}

bool job_session::report_further(const job_event& event) {
  if (const auto* notice = std::get_if<job_notice>(&event)) {
    reporter_.problem(notice->what);
    return true;
  }
  if (const auto* abort = std::get_if<job_aborting>(&event)) {
    reporter_.report(job_snapshot::event::aborting, abort->change, abort->reason);
  } else if (const auto* changed = std::get_if<job_changed>(&event)) {
    reporter_.report(job_snapshot::event::changed, changed->change);
  } else {
    return false;
  }
  reporter_.note_failure(job_.resume());
  return true;
}

void job_session::serve() {
  if (commands_) {
    run_for_newcomers(*commands_, job_, shared_, commanded_);
    commands_->serve();
  }
  reporter_.serve_spawns();
}

void job_session::wait_until(deadline until, int other) const {
  wait_for_either(job_, signals_, commands_.get(), other >= 0 ? other : reporter_.spawn_descriptor(), until);
}

void job_session::say_what_is_missing(std::string_view what) {
  hint_at_ = no_deadline;
  reporter_.expect_no_report();
  complain(fmt::format("still waiting for {} to {}{}", starter_text(), what, missing_text()));
}

int job_session::give_up(std::string_view what) {
  reporter_.expect_no_report();
  complain(fmt::format("{} {} within {} s{}; it runs on without mpiacq", starter_text(), what,
                       shared_.timeout.value_or(0), missing_text()));
  reporter_.note_failure(job_.detach(leave::running));
  return status_tool_failed;
}

std::string job_session::starter_text() const {
  const job_description now = job_.description();
  return tool::starter_text(now.starter, {now.source, now.launcher});
}

std::string job_session::missing_text() const {
  const auto missing_symbols = job_.missing_symbols();
  return missing_symbols ? ": " + *missing_symbols : "";
}

int job_session::own_status() const {
  if (reporter_.failed()) return status_tool_failed;
  return reporter_.rank_failed() || (commands_ && commands_->failures() != 0) ? status_rank_failed : status_ok;
}

}  // namespace mpiacq::tool
