// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/attach_session.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "commands/complaints.hpp"
#include "commands/exit_status.hpp"
#include "sessions/each_rank.hpp"
#include "sessions/gates_elsewhere.hpp"
#include "sessions/handover.hpp"
#include "sessions/session_wait.hpp"

namespace mpiacq::tool {

attach_session::attach_session(job& subject, const attach_command_options& options, agents_of_job& agents,
                               report_file& report, signal_catcher& signals)
    : job_session(subject, options, agents, report, signals), options_(options) {}

std::optional<int> attach_session::between_events() {
  if (const auto status = take_signals()) return status;
  serve();
  if (left_ && !commands_run()) return own_status();
  if (!reported_ && clock::now() >= table_by_) return give_up("has had no process table");
  if (!reported_ && clock::now() >= hint_at_) say_what_is_missing("have a process table");
  if (clock::now() >= daemons_by_) {
    if (const auto status = leave_without_daemons()) return status;
  }
  wait_until(reported_ ? daemons_by_ : std::min(table_by_, hint_at_));
  return std::nullopt;
}

std::optional<int> attach_session::handle(const job_event& event) {
  if (std::holds_alternative<job_attached>(event)) return on_table(job_snapshot::event::attached, std::nullopt);
  if (const auto* spawn = std::get_if<job_spawned>(&event)) {
    return on_table(job_snapshot::event::spawned, spawn->change);
  }
  const auto table = job_.processes();
  const auto* const abort = std::get_if<job_aborting>(&event);
  if (abort != nullptr && !reported_ && (!table || table->empty())) return leave_without_table(*abort);
  if (report_further(event)) return std::nullopt;
  if (std::holds_alternative<daemons_launched>(event)) {
    complain("the starter has launched the daemons");
    if (daemons_by_ != no_deadline) return leave_it();
  } else if (const auto* lost = std::get_if<job_lost>(&event)) {
    complain(lost->why);
    return status_tool_failed;
  } else if (const auto* end = std::get_if<starter_ended>(&event)) {
    const exit_status& how = end->status;
    reporter_.expect_no_report();
    complain(end->status_is_known
                 ? fmt::format("{} ended: {} {}", starter_text(), how.signaled ? "signal" : "exit status", how.value)
                 : fmt::format("{} ended", starter_text()));
    if (!reported_) return status_tool_failed;
    left_ = true;  // commands on ranks that outlive the starter run to their ends
  }
  return std::nullopt;
}

std::optional<int> attach_session::on_table(job_snapshot::event what, const std::optional<job_change>& change) {
  take_looks();
  gates_elsewhere gates(job_, agents_, reporter_);
  if (options_.after == then::stop) reporter_.hold_ranks(job_);
  reporter_.report(what, change);
  reported_ = true;
  if (options_.after == then::go_on && job_.interface() == interface_kind::environment) {
    complain("the starter announces no further events: mpiacq leaves the job running");
    return leave_it();
  }
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
  const bool runs_commands = !commands_ && options_.after == then::go_on;
  auto subjects = runs_commands ? subjects_for_each(job_, options_) : std::vector<command_subject>();
  reporter_.note_failure(job_.resume());
  gates.open();
  if (runs_commands) commands_ = run_for_each(job_, options_, std::move(subjects), false);
  return std::nullopt;
}

std::optional<int> attach_session::leave_without_daemons() {
  // No failure: a daemon that ends within milliseconds is not seen, and a starter reports its daemons only once.
  complain(fmt::format("mpiacq asked {} for the daemons, and saw it launch none within {} s", starter_text(),
                       patience_of_a_person.count()));
  return leave_it();
}

std::optional<int> attach_session::leave_it() {
  daemons_by_ = no_deadline;
  if (options_.after == then::kill) {
    const auto asked = job_.end();
    if (asked) return std::nullopt;  // the event of its end follows
    reporter_.note_failure(asked);
  }
  const bool stops = options_.after == then::stop;
  auto subjects = subjects_for_each(job_, options_);
  reporter_.note_failure(job_.detach(stops ? leave::stopped : leave::running));
  if (stops) complain_in_lines(left_stopped(job_, ranks_handed_over(job_, options_.ranks.selection)));
  left_ = true;
  commands_ = run_for_each(job_, options_, std::move(subjects), false);
  return std::nullopt;
}

int attach_session::leave_without_table(const job_aborting& abort) {
  // A starter that aborts publishes no further table.
  reporter_.report(job_snapshot::event::aborting, abort.change, abort.reason);
  complain(fmt::format("{} aborts its job and has no process table; it runs on without mpiacq", starter_text()));
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

}  // namespace mpiacq::tool
