// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "sessions/launch_session.hpp"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "commands/complaints.hpp"
#include "commands/exit_status.hpp"
#include "sessions/each_rank.hpp"
#include "sessions/gates_elsewhere.hpp"
#include "sessions/handover.hpp"
#include "sessions/session_wait.hpp"

namespace mpiacq::tool {

namespace {

std::string_view why_no_processes(interface_kind source) {
  switch (source) {
    case interface_kind::mpi2dd:
      return "; it never raised MPI2DD_DEBUG_START";
    case interface_kind::pmix:
    case interface_kind::environment:
      return "; no process that it started has the variables that a launcher sets for a rank";
    case interface_kind::mpir:
      break;
  }
  return "; it never called MPIR_Breakpoint with MPIR_debug_state 1 (the program may not be an MPI program, or "
         "link-time optimisation has inlined the call)";
}

}  // namespace

launch_session::launch_session(job& subject, const launch_options& options, agents_of_job& agents, report_file& report,
                               signal_catcher& signals, job_watcher* watcher)
    : job_session(subject, options, agents, report, signals), options_(options), watcher_(watcher) {}

std::optional<int> launch_session::between_events() {
  serve();
  if (ended_ && watcher_ != nullptr) watcher_->serve_last();
  if (ended_ && !commands_run()) return final_status(*ended_);
  const bool watches = watcher_ != nullptr && !left_ && !ended_by_watch_;
  if (watches && watcher_->serve()) {
    after_watch_report();
    return std::nullopt;
  }
  const bool waits = !spawned_ && !ended_;
  if (waits && clock::now() >= table_by_) return give_up("has not reported any processes");
  if (waits && clock::now() >= hint_at_) say_what_is_missing("report its processes");
  const deadline look_at = watches ? watcher_->wake_at() : no_deadline;
  wait_until(std::min(look_at, waits ? std::min(table_by_, hint_at_) : no_deadline),
             watches ? watcher_->descriptor() : -1);
  take_signals();
  return std::nullopt;
}

void launch_session::take_signals() {
  while (const auto signal = signals_.take()) {
    const bool watches = watcher_ != nullptr && !left_ && !ended_by_watch_;
    if (watches && !signal->from_terminal && watcher_->takes(signal->number)) continue;
    const bool ends =
        signal->number == SIGINT || signal->number == SIGTERM || signal->number == SIGHUP || signal->number == SIGQUIT;
    if (ends && commands_) commands_->stop();
    if (ends && watcher_ != nullptr) watcher_->expect_end();
    const bool stops = signal->number == SIGTSTP || signal->number == SIGTTIN || signal->number == SIGTTOU;
    if (!signal->from_terminal) {
      job_.signal(signal->number);
    } else if (stops) {
      terminal_stop_ = true;
      stop_with_the_starter();
    }
  }
}

void launch_session::stop_with_the_starter() {
  // For the shell, a job is stopped when its whole process group is. mpiacq stops after the starter, because the
  // starter's stop would wait for a stopped mpiacq. If the starter ignores Ctrl-Z, mpiacq does not stop either.
  if (!terminal_stop_ || !starter_stopped_ || left_) return;
  terminal_stop_ = starter_stopped_ = false;
  std::raise(SIGSTOP);
}

void launch_session::on_spawn(const job_spawned& spawn) {
  take_looks();
  gates_elsewhere gates(job_, agents_, reporter_);
  spawned_ = true;
  if (watcher_ != nullptr) {
    reporter_.note_failure(job_.resume());
    gates.open();
    return begin_watch();
  }
  // Ranks that stay stopped are held before the report, which shows their state.
  if (options_.after == then::stop) reporter_.hold_ranks(job_);
  reporter_.report(job_snapshot::event::spawned, spawn.change);
  const bool refused = job_.facts().daemons == mpir::daemon_launch::refused;
  if (options_.daemons && refused) reporter_.note_failure();  // the reason has been printed
  after_report();
  if (options_.after != then::kill) gates.open();
}

std::optional<int> launch_session::handle(const job_event& event) {
  if (report_further(event)) return std::nullopt;
  if (const auto* spawn = std::get_if<job_spawned>(&event)) {
    on_spawn(*spawn);
  } else if (options_.daemons && std::holds_alternative<daemons_launched>(event)) {
    complain("the starter has launched the daemons");
  } else if (const auto* stop = std::get_if<starter_stopped>(&event)) {
    starter_stopped_ = stop->signal != 0;
    stop_with_the_starter();
  } else if (std::holds_alternative<starter_continued>(event)) {
    // mpiacq may have received a second Ctrl-Z before this event of the first one: its stop is still to come.
    starter_stopped_ = false;
  } else if (const auto* lost = std::get_if<job_lost>(&event)) {
    reporter_.problem(lost->why);
    reporter_.expect_no_report();
    reporter_.note_failure();
    left_ = spawned_ = true;  // no further report will come
  } else if (const auto* end = std::get_if<starter_ended>(&event)) {
    ended_ = *end;
    if (watcher_ != nullptr) watcher_->note_end(end->status);
  }
  return std::nullopt;
}

void launch_session::after_report() {
  left_ = options_.after != then::go_on;
  auto subjects = commands_ ? std::vector<command_subject>() : subjects_for_each(job_, options_);
  switch (options_.after) {
    case then::go_on:
      reporter_.note_failure(job_.resume());
      break;
    case then::detach:
      reporter_.note_failure(job_.detach(leave::running));
      break;
    case then::kill:
      reporter_.note_failure(job_.end());
      break;
    case then::stop:
      reporter_.note_failure(job_.detach(leave::stopped));
      complain_in_lines(left_stopped(job_, ranks_handed_over(job_, options_.ranks.selection)));
      break;
  }
  if (!commands_) commands_ = run_for_each(job_, options_, std::move(subjects), true);
}

void launch_session::begin_watch() {
  // A signal that waits would end the start of agents.
  take_signals();
  ranks_look look;
  look.job = job_.description();
  look.selection = options_.ranks.selection;
  const debug_file_search search = search_without_downloads(options_.report);
  auto ranks = look.job.ranks(ranks_at(look.job, look.selection, search, options_.agents, signals_.descriptor()));
  if (!ranks) return reporter_.note_failure(fail(ranks.error()));
  look.ranks = std::make_shared<rank_group>(std::move(*ranks));
  complain_of_nodes(*look.ranks);
  watcher_->begin(std::move(look));
}

void launch_session::after_watch_report() {
  switch (options_.after) {
    case then::kill:
      ended_by_watch_ = true;
      reporter_.note_failure(job_.end());
      break;
    case then::stop:
      left_ = true;
      reporter_.hold_ranks(job_);
      reporter_.expect_no_report();
      reporter_.note_failure(job_.detach(leave::stopped));
      complain_in_lines(left_stopped(job_, ranks_handed_over(job_, options_.ranks.selection)));
      break;
    default:
      break;
  }
}

int launch_session::final_status(const starter_ended& end) {
  const exit_status& starter = end.status;
  reporter_.expect_no_report();
  if (ended_by_watch_) return status_ended_by_watch;
  if (!spawned_) {
    std::string why = missing_text();
    // PRRTE's starters have no MPIR in any release, so that no symbols could help.
    const bool has_pmix = launcher_of(job_.starter().executable) == launcher_kind::prrte;
    if (why.empty() || has_pmix) why = why_no_processes(has_pmix ? interface_kind::pmix : job_.interface());
    complain(fmt::format("{} ended ({} {}) without having reported any processes{}", job_.starter().executable,
                         starter.signaled ? "signal" : "exit status", starter.value, why));
    reporter_.note_failure();
  }
  // The status of a failed starter is more useful than that of mpiacq.
  const int status = starter.as_shell();
  return status != 0 ? status : own_status();
}

}  // namespace mpiacq::tool
