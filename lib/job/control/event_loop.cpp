// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// From what the tracer and the timers report to the part of the job that handles it.
#include <chrono>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "control/job_state.hpp"
#include "proc/process_state.hpp"

namespace mpiacq {

namespace {
/// A child that a process made in its last moment is reported when that child has stopped, which may be after the end
/// of its parent.
constexpr std::chrono::milliseconds birth_delay{100};
/// Until a starter that could not be stopped for a look at its table is stopped again.
constexpr std::chrono::seconds stop_again_interval{1};
}  // namespace

/// One event of one followed process.
struct job::state::event_handler {
  state& job;
  followed_process& process;

  [[nodiscard]] bool is_starter() const { return process.pid == job.search.starter(); }
  /// The process is stopped: its interface says what is to be done, unless the job has been let go.
  template <class Ask>
  void stopped(Ask ask) const {
    process.stopped = true;
    if (!job.life.is_controlled() || !ask()) job.run_on(process);
  }
  [[nodiscard]] bool carry_out(process_interface::steps steps) const {
    return job.carry_out(process, std::move(steps), write_duration::while_controlled);
  }

  void operator()(const entry_reached&) const {
    stopped([&] { return at_entry(); });
    (void)job.table.this_host();
  }
  void operator()(const breakpoint_hit& hit) const {
    stopped([&] { return at_breakpoint(hit.address); });
  }
  /// The write comes before the call of MPIR_Breakpoint, and is the only sign where that call was inlined.
  void operator()(const watch_hit&) const {
    stopped([&] { return carry_out(process.interface->at_state_written(process.program.view())); });
  }
  /// A stop that was asked for: the caller of stop_starter or stop_all has it stay, unless it came too late.
  void operator()(const interrupted&) const {
    process.stopped = true;
    job.run_on(process);
  }
  void operator()(const process_born&) const {}
  void operator()(const group_stopped& stop) const {
    process.in_group_stop = true;
    if (is_starter()) job.events.add(starter_stopped{stop.signal});
  }
  void operator()(const group_continued&) const {
    process.in_group_stop = false;
    if (is_starter()) job.events.add(starter_continued{});
  }
  /// Not asked for.
  void operator()(const process_ending&) const {
    process.stopped = true;
    job.run_on(process);
  }
  void operator()(const tracing_problem& problem) const { job.events.notice(problem.what); }
  void operator()(const control_lost& loss) const;
  void operator()(const process_ended& end) const { process.is_member ? member_ended(end.status) : ended(end.status); }

  [[nodiscard]] bool at_entry() const;
  [[nodiscard]] bool at_breakpoint(target_address where) const;
  [[nodiscard]] bool at_link_map_change() const;
  void ended(const exit_status& status) const;
  void member_ended(const exit_status& status) const;
};

void job::state::handle(const process_event& event) {
  if (const auto* birth = std::get_if<process_born>(&event.what)) {
    // A child of a wrapper may exec the starter. The children of the starter are not followed.
    const followed_process* const parent = find(birth->parent);
    const bool may_exec_starter =
        life.is_controlled() && parent != nullptr && search.follows_child_of(birth->parent, parent->has_interface());
    if (!may_exec_starter) return events.notice_failure(control->detach(event.process));
    timers.clear(job_timer::finish);
    search.add(event.process);
    return run_on(follow(event.process));
  }
  followed_process* const process = find(event.process);
  if (process == nullptr) return ranks->handle(event);
  std::visit(event_handler{*this, *process}, event.what);
}

void job::state::handle_deferred() {
  const auto event = events.take_deferred();
  if (followed_process* const process = find(event->process)) process->waits = false;
  handle(*event);
}

bool job::state::handle_due_timers() {
  bool is_any_due = false;
  while (!life.has_ended()) {
    const auto due = timers.take_due();
    if (!due) break;
    is_any_due = true;
    handle(*due);
  }
  return is_any_due;
}

void job::state::handle(job_timer due) {
  switch (due) {
    case job_timer::kill:
      return kill_starter();
    case job_timer::finish:
      return finish();
    case job_timer::gates:
      return retry_gates();
    case job_timer::daemons:
      return daemons.look();
    case job_timer::table:
      return look_at_table();
    case job_timer::ranks:
      return look_for_ranks();
  }
}

bool job::state::event_handler::at_entry() const {
  process.executable = executable_of(process.pid);
  if (is_starter() && !process.executable.empty()) job.facts.executable = process.executable;
  if (auto opened = process.program.open(); !opened) {
    job.events.notice_failure(fail(std::move(opened).error().while_doing("looking for the starter's symbols")));
    return false;
  }
  const bool stays = carry_out(process.interface->at_entry(process.program.view()));
  if (job.life.is_launched() && !job.search.is_over()) {
    job.events.notice_failure(job.control->follow_children(process.pid, !process.has_interface()));
    if (!stays && job.waits_for_other_ranks(process)) {
      process.stays = true;
      return true;
    }
  }
  return stays;
}

bool job::state::event_handler::at_breakpoint(target_address where) const {
  if (process.program.is_link_map_watch(where)) return at_link_map_change();
  if (where != process.interface->breakpoint()) return false;
  return carry_out(process.interface->at_breakpoint(process.program.view()));
}

bool job::state::event_handler::at_link_map_change() const {
  const auto changed = process.program.symbols()->refresh();
  if (!changed) job.events.notice_failure(fail(changed.error()));
  if (!changed || !*changed) return false;
  const bool stays = carry_out(process.interface->modules_changed(process.program.view()));
  if (!process.is_member && process.has_interface()) {
    job.events.notice_failure(job.control->follow_children(process.pid, false));
  }
  return stays;
}

void job::state::event_handler::ended(const exit_status& status) const {
  process.ended = true;
  process.stopped = false;
  job.life.process_ended(process.pid, status);
  const bool was_starter = is_starter();
  if (job.search.process_ended(process.pid)) job.take_as_starter(job.starter());
  // The caller that launched a script waits for the script, and takes its status.
  if (!job.life.root_has_ended()) return;
  // After a detach no process is followed any more, so no birth can be reported.
  if (job.search.is_over() || !job.life.is_controlled()) {
    if (process.pid == job.life.root() || was_starter) job.finish();
  } else if (!job.search.is_any_alive()) {
    const bool is_no_birth_possible = job.control->is_idle().value_or(false);
    job.timers.set(job_timer::finish, is_no_birth_possible ? clock::duration{} : birth_delay);
  }
}

void job::state::event_handler::member_ended(const exit_status& status) const {
  const mpi2dd::visit* seen = job.graph->visit_of(process.pid);
  const bool has_tables = seen != nullptr && (seen->is_directory() || seen->is_metadirectory());
  if (has_tables && status.signaled && !job.life.has_ended()) {
    job.events.notice(error{error_code::process_gone,
                            fmt::format("process {}, which had tables of the job, was ended by signal {}: the ranks "
                                        "that it listed stay in the job's table",
                                        process.pid.value(), status.value)});
  }
  job.processes.erase(process.pid);
}

/// The tracing process has let go of the process by itself.
void job::state::event_handler::operator()(const control_lost& loss) const {
  process.stopped = process.stays = process.waits = false;
  if (process.is_member) {
    job.processes.erase(process.pid);
    return;
  }
  // Only the end of the process that was launched is reported after this.
  process.ended = !job.life.is_launched() || process.pid != job.life.root();
  if (process.ended) job.search.remove(process.pid);
  if (!is_starter() || !job.life.is_controlled()) return;
  for (const job_timer timer : {job_timer::table, job_timer::gates, job_timer::daemons, job_timer::ranks})
    job.timers.clear(timer);
  // Events that the caller has not taken yet ask for answers that have no effect any more.
  job.events.drop_deferred();
  job.events.keep_only_notices();
  job.events.add(job_lost{loss.why});
  job.life.lose();
}

void job::state::look_at_table() {
  if (pmix) return look_at_pmix(true);
  if (starter().stopped || !life.is_controlled()) return;
  if (const auto stopped = stop_starter(); !stopped) {
    timers.set(job_timer::table, stop_again_interval);
    return events.notice_failure(stopped);
  }
  followed_process& process = starter();
  // The event that stopped it may have been the announcement of its table.
  if (life.has_ended() || process.ended || process.waits) return;
  auto steps = process.interface->look_again(process.program.view());
  if (!carry_out(process, std::move(steps), write_duration::while_controlled)) run_on(process);
}

}  // namespace mpiacq
