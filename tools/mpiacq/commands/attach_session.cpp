// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/attach_session.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "commands/complaints.hpp"
#include "commands/each_rank.hpp"
#include "commands/exit_status.hpp"
#include "commands/gates_elsewhere.hpp"
#include "commands/handover.hpp"
#include "commands/session_wait.hpp"

namespace mpiacq::tool {

attach_session::attach_session(job& subject, const attach_command_options& options, agents_of_job& agents,
                               report_file& report, signal_catcher& signals)
    : job_(subject),
      options_(options),
      agents_(agents),
      reporter_(subject, options.report, report),
      signals_(signals),
      table_by_(deadline_after(options.timeout)),
      hint_at_(clock::now() + patience_of_a_person) {}

int attach_session::run() {
  for (;;) {
    auto event = job_.next(clock::now());
    if (!event) {
      complain(event.error());
      return status_tool_failed;
    }
    if (*event) {
      if (const auto status = handle(**event)) return *status;
      continue;
    }
    if (const auto status = take_signals()) return *status;
    if (commands_) {
      run_for_newcomers(*commands_, job_, options_, commanded_);
      commands_->serve();
    }
    reporter_.serve_spawns();
    if (left_ && (!commands_ || commands_->finished())) return own_status();
    if (!reported_ && clock::now() >= table_by_) return give_up();
    if (!reported_ && clock::now() >= hint_at_) say_what_is_missing();
    if (clock::now() >= daemons_by_) {
      if (const auto status = leave_without_daemons()) return *status;
    }
    wait_for_either(job_, signals_, commands_.get(), reporter_.spawn_descriptor(),
                    reported_ ? daemons_by_ : std::min(table_by_, hint_at_));
  }
}

std::optional<int> attach_session::handle(const job_event& event) {
  if (std::holds_alternative<job_attached>(event)) return on_table(job_snapshot::event::attached, std::nullopt);
  if (const auto* spawn = std::get_if<job_spawned>(&event)) {
    return on_table(job_snapshot::event::spawned, spawn->change);
  }
  if (const auto* abort = std::get_if<job_aborting>(&event)) {
    reporter_.report(job_snapshot::event::aborting, abort->change, abort->reason);
    // A starter that aborts publishes no further table.
    const auto table = job_.processes();
    if (!reported_ && (!table || table->empty())) return leave_without_table();
    reporter_.note_failure(job_.resume());
  } else if (const auto* changed = std::get_if<job_changed>(&event)) {
    reporter_.report(job_snapshot::event::changed, changed->change);
    reporter_.note_failure(job_.resume());
  } else if (const auto* notice = std::get_if<job_notice>(&event)) {
    reporter_.problem(notice->what);
  } else if (std::holds_alternative<daemons_launched>(event)) {
    complain("the starter has launched the daemons");
    if (daemons_by_ != no_deadline) return leave_it();
  } else if (const auto* lost = std::get_if<job_lost>(&event)) {
    complain(lost->why);
    return status_tool_failed;
  } else if (const auto* end = std::get_if<starter_ended>(&event)) {
    const exit_status& how = end->status;
    complain(fmt::format("{} (pid {}) ended: {} {}", job_.starter().executable, job_.starter().pid.value(),
                         how.signaled ? "signal" : "exit status", how.value));
    if (!reported_) return status_tool_failed;
    left_ = true;  // commands on ranks that outlive the starter run to their ends
  }
  return std::nullopt;
}

std::optional<int> attach_session::on_table(job_snapshot::event what, const std::optional<job_change>& change) {
  if (options_.stacks) reporter_.take_stacks(job_, options_, agents_);
  if (options_.queues) reporter_.take_queues(job_, options_, agents_);
  gates_elsewhere gates(job_, agents_, reporter_);
  if (options_.after == then::stop) reporter_.hold_ranks(job_);
  reporter_.report(what, change);
  reported_ = true;
  const auto asked = job_.facts().daemons;
  const bool daemons_come = asked == mpir::daemon_launch::by_fifo || asked == mpir::daemon_launch::by_polling;
  if (asked == mpir::daemon_launch::refused) reporter_.note_failure();  // the reason has been printed
  if (options_.after != then::go_on && !daemons_come) {
    auto status = leave_it();
    if (options_.after != then::kill) gates.open();
    return status;
  }
  // The starter must run to launch the daemons, and must find the request when it does.
  if (options_.after != then::go_on) daemons_by_ = clock::now() + patience_of_a_person;
  reporter_.note_failure(job_.resume());
  gates.open();
  if (!commands_ && options_.after == then::go_on) commands_ = run_for_each(job_, options_, false);
  return std::nullopt;
}

std::optional<int> attach_session::leave_without_daemons() {
  // No failure: a daemon that ends within milliseconds is not seen, and a starter reports its daemons only once.
  complain(fmt::format("mpiacq asked {} (pid {}) for the daemons, and saw it launch none within {} s",
                       job_.starter().executable, job_.starter().pid.value(), patience_of_a_person.count()));
  return leave_it();
}

std::optional<int> attach_session::leave_it() {
  daemons_by_ = no_deadline;
  if (options_.after == then::kill) {
    reporter_.note_failure(job_.end());
    return std::nullopt;  // its end follows
  }
  const bool stops = options_.after == then::stop;
  reporter_.note_failure(job_.detach(stops ? leave::stopped : leave::running));
  if (stops) complain_in_lines(left_stopped(job_, ranks_handed_over(job_, options_.ranks.selection)));
  left_ = true;
  commands_ = run_for_each(job_, options_, false);
  return std::nullopt;
}

int attach_session::leave_without_table() {
  complain(fmt::format("{} (pid {}) aborts its job and has no process table; it runs on without mpiacq",
                       job_.starter().executable, job_.starter().pid.value()));
  reporter_.note_failure(job_.detach(leave::running));
  return status_tool_failed;
}

std::optional<int> attach_session::take_signals() {
  const auto signal = signals_.take();
  if (!signal) return std::nullopt;
  reporter_.leave_spawns();
  reporter_.note_failure(job_.detach(leave::running));
  constexpr int by_signal = 128;
  return by_signal + signal->number;
}

void attach_session::say_what_is_missing() {
  hint_at_ = no_deadline;
  const auto missing_symbols = job_.missing_symbols();
  complain(fmt::format("still waiting for {} (pid {}) to have a process table{}", job_.starter().executable,
                       job_.starter().pid.value(), missing_symbols ? ": " + *missing_symbols : ""));
}

int attach_session::give_up() {
  const auto missing_symbols = job_.missing_symbols();
  complain(fmt::format("{} (pid {}) has had no process table within {} s{}; it runs on without mpiacq",
                       job_.starter().executable, job_.starter().pid.value(), *options_.timeout,
                       missing_symbols ? ": " + *missing_symbols : ""));
  reporter_.note_failure(job_.detach(leave::running));
  return status_tool_failed;
}

int attach_session::own_status() const {
  if (reporter_.failed()) return status_tool_failed;
  return reporter_.rank_failed() || (commands_ && commands_->failures() != 0) ? status_rank_failed : status_ok;
}

}  // namespace mpiacq::tool
