// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What the interface of a process asks the job to do.
#include <array>
#include <chrono>
#include <utility>
#include <variant>

#include "container_table.hpp"
#include "control/job_state.hpp"
#include "control/mpi2dd_rank_control.hpp"
#include "proc/process_facts.hpp"

namespace mpiacq {

namespace {

/// A starter fills its table within milliseconds, but may take long to start a job on many nodes. Each look stops the
/// starter for less than a millisecond.
constexpr std::chrono::milliseconds table_interval{100};

bool defines_mpir(process_symbols& symbols) {
  constexpr std::array<std::string_view, 2> names = {"MPIR_proctable", "MPIR_Breakpoint"};
  const auto found = symbols.find_symbols(names);
  return found && (*found)[0] && (*found)[1];
}

}  // namespace

/// Does one step. True where the process has to stay stopped for the caller.
struct job::state::step_runner {
  state& job;
  followed_process& process;
  write_duration duration;

  [[nodiscard]] bool goes_on(const result<void>& done) const {
    job.events.notice_failure(done);
    return false;
  }

  bool operator()(const mpir::plant_breakpoint& what) const { return goes_on(job.patches.apply(process, what)); }
  bool operator()(const mpir::lift_breakpoint& what) const { return goes_on(job.patches.apply(process, what)); }
  bool operator()(const mpir::watch_variable& what) const { return goes_on(job.patches.apply(process, what)); }
  bool operator()(const mpir::unwatch_variable& what) const { return goes_on(job.patches.apply(process, what)); }
  bool operator()(const write_bytes& what) const { return goes_on(job.patches.write(process, what, duration)); }
  bool operator()(const mpir::kick_fifo& fifo) const { return goes_on(kick_attach_fifo(fifo.path, process.pid)); }
  /// carry_out watches the link map after all other steps.
  bool operator()(const mpir::watch_modules&) const { return false; }
  bool operator()(const mpir::await_table&) const {
    job.timers.set(job_timer::table, table_interval);
    return false;
  }
  bool operator()(const mpir::report_daemons&) const {
    job.daemons.report();
    return false;
  }
  bool operator()(mpir::report_problem& problem) const {
    job.events.notice(std::move(problem.what));
    return false;
  }
  bool operator()(const mpir::report_processes& told) const { return job.report(process, told); }
  bool operator()(mpir::report_abort& told) const {
    job.has_spawned(process);
    job.events.add(job_aborting{std::move(told.reason), {}});
    return true;
  }
  bool operator()(const look_for_job&) const { return job.look_for_running_job(process); }
  bool operator()(mpi2dd::report_event& event) const { return job.report(process, event); }
};

bool job::state::carry_out(followed_process& process, process_interface::steps steps, write_duration duration) {
  if (!steps) {
    events.notice_failure(fail(std::move(steps).error()));
    return false;
  }
  bool stays = false;
  bool watches = false;
  bool has_looked_for_symbols = false;
  const std::size_t before = events.size();
  for (step& next : *steps) {
    watches = watches || std::holds_alternative<mpir::watch_modules>(next);
    has_looked_for_symbols = has_looked_for_symbols || std::holds_alternative<mpir::plant_breakpoint>(next);
    stays = std::visit(step_runner{*this, process, duration}, next) || stays;
  }
  events.put_notices_first(before);
  if (watches || has_looked_for_symbols) {
    events.notice_failure(watches ? process.program.watch_link_map() : process.program.stop_watching_link_map());
  }
  if (process.has_interface() && search.found_interface(process.pid)) take_as_starter(process);
  if (process.pid == search.starter()) {
    facts.is_rank = process.interface->facts().starter_is_rank || (graph && graph->is_rank(process.pid));
  }
  process.waits = process.waits || stays;
  return stays;
}

bool job::state::report(followed_process& process, const mpir::report_processes& told) {
  has_spawned(process);
  events.notice_failure(patches.table_is_reported(process));
  const auto starter_now = process_facts::open(process.pid);
  take_table(starter_now ? seen_from_here(told.table, *starter_now) : told.table);
  timers.clear(job_timer::table);
  if (life.take_first_table()) {
    events.add(job_attached{});
  } else {
    events.add(job_spawned{});
  }
  return true;
}

void job::state::take_table(std::shared_ptr<const process_table> newer) {
  table.take(std::move(newer));
  ranks->belong_to(table.processes()->user());
  gates.new_table();
}

tracked_graph& job::state::graph_from(const followed_process& process) {
  if (!graph) graph = std::make_unique<tracked_graph>(process.pid, options.limits, options.debug_files);
  return *graph;
}

/// A job that is being launched has no table yet: its START is waited for. An abort that was raised before the tool was
/// there is reported at once.
bool job::state::look_for_running_job(followed_process& process) {
  if (process.is_member || graph) return false;
  auto running = look_at_running_job(graph_from(process), process.pid);
  if (!running) {
    events.notice_failure(fail(std::move(running).error()));
    return false;
  }
  if (!running->has_table && running->aborting.empty()) return false;
  has_spawned(process);
  take_graph_table();
  if (running->has_table) {
    (void)life.take_first_table();
    events.add(job_attached{});
  }
  for (job_event& abort : running->aborting) events.add(std::move(abort));
  return true;
}

bool job::state::report(followed_process& process, mpi2dd::report_event& event) {
  if (!process.is_member) has_spawned(process);
  auto change = read_change(graph_from(process), process.pid, event);
  if (!change) {
    events.notice_failure(fail(std::move(change).error()));
    return false;
  }
  take_graph_table();
  if (starts_ranks(event.state)) decide_on_gates(process);
  const bool is_first_table = event.state == mpi2dd::debug_state::start && life.take_first_table();
  events.add(event_of(std::move(*change), std::move(event.reason), is_first_table));
  return true;
}

void job::state::take_graph_table() {
  followed_process& first = starter();
  if (dynamic_cast<mpi2dd_rank_control*>(ranks.get()) == nullptr) {
    ranks = std::make_unique<mpi2dd_rank_control>(mpi2dd_rank_control::surroundings{
        *this, processes, *control, traps, *graph, events, table.this_host(), options, first.pid});
    if (first.program.symbols() != nullptr) facts.has_both = defines_mpir(*first.program.symbols());
  }
  take_table(graph->table());
  if (!first.interface->facts().job_id) {
    if (const auto slurm = slurm_step_of(*table.processes(), first.pid)) first.interface->belongs_to(*slurm);
  }
  for (error& problem : graph->take_problems()) events.notice(std::move(problem));
}

}  // namespace mpiacq
