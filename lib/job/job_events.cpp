// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// From what the tracer reports to what the interface answers, and the doing of it.
#include <csignal>
#include <utility>
#include <variant>

#include "attach_fifo.hpp"
#include "job_state.hpp"
#include "local_host.hpp"
#include "node_process.hpp"

namespace mpiacq {

namespace {
template <class... Fs>
struct overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
overloaded(Fs...) -> overloaded<Fs...>;
/// A starter fills its table within milliseconds, but it may take as long to start its job as the machine is large.
/// Each look stops it for less than one.
constexpr std::chrono::milliseconds table_interval{100};
}  // namespace

void job::state::handle(const process_event& event) {
  if (event.process != facts.pid) {
    static_cast<void>(ranks->handle(event));
    return;
  }
  std::visit(overloaded{
                 [&](const entry_reached&) { at_entry(); },
                 [&](const breakpoint_hit& hit) { at_breakpoint(hit.address); },
                 [&](const interrupted&) { stopped = true; },
                 [&](const group_stopped& stop) { coming.emplace_back(starter_stopped{stop.signal}); },
                 [&](const group_continued&) { coming.emplace_back(starter_continued{}); },
                 [&](const tracing_problem& problem) { notice(problem.what); },
                 [&](const auto&) {},  // not asked for: followed children
                 [&](const process_ended& end) {
                   ended = true;
                   stopped = false;
                   kill_at = no_deadline;
                   // The starter took its ranks with it, or left some behind that `end` has promised to end.
                   for (const descriptor& process : std::exchange(doomed_ranks, {})) signal_process(process, SIGKILL);
                   coming.emplace_back(starter_ended{end.status});
                 },
             },
             event.what);
}

void job::state::at_entry() {
  stopped = true;
  if (auto executable = executable_of(facts.pid); !executable.empty()) facts.executable = std::move(executable);
  if (auto opened = program->open(); !opened) {
    notice_failure(fail(std::move(opened).error().while_doing("looking for the starter's symbols")));
    run_on();
    return;
  }
  if (!carry_out(acquisition.at_entry(program->view()))) run_on();
}

void job::state::at_breakpoint(target_address where) {
  stopped = true;
  bool stay = false;
  if (program->is_link_map_watch(where)) {
    const auto changed = program->symbols()->refresh();
    if (!changed) notice_failure(fail(changed.error()));
    if (changed && *changed) stay = carry_out(acquisition.modules_changed(program->view()));
  } else if (where == acquisition.breakpoint()) {
    stay = carry_out(acquisition.at_breakpoint(program->view()));
  }
  if (!stay) run_on();
}

bool job::state::carry_out(result<std::vector<mpir::action>> actions) {
  if (!actions) {
    notice_failure(fail(std::move(actions).error()));
    return false;
  }
  bool stay = false;
  bool watch = false;
  bool looked_for_symbols = false;
  for (mpir::action& action : *actions) {
    watch = watch || std::holds_alternative<mpir::watch_modules>(action);
    looked_for_symbols = looked_for_symbols || std::holds_alternative<mpir::plant_breakpoint>(action);
    stay = carry_out_one(action) || stay;
  }
  if (watch || looked_for_symbols) keep_link_map_watch(watch);
  facts.is_rank = acquisition.facts().starter_is_rank;
  return stay;
}

bool job::state::carry_out_one(mpir::action& action) {
  return std::visit(overloaded{
                        [&](const mpir::plant_breakpoint& plant) {
                          const auto planted =
                              control->insert_breakpoint(facts.pid, plant.address, options.breakpoints);
                          if (!planted) notice_failure(fail(planted.error()));
                          return false;
                        },
                        [&](const mpir::lift_breakpoint& lift) {
                          notice_failure(control->remove_breakpoint(facts.pid, lift.address));
                          return false;
                        },
                        [&](const mpir::write_memory& write) {
                          notice_failure(program->write(write.address, write.bytes));
                          return false;
                        },
                        [&](const mpir::watch_modules&) { return false; },
                        // A watched variable is not asked for.
                        [&](const mpir::watch_variable&) { return false; },
                        [&](const mpir::unwatch_variable&) { return false; },
                        [&](const mpir::await_table&) {
                          look_at = clock::now() + table_interval;
                          return false;
                        },
                        [&](const mpir::kick_fifo& fifo) {
                          notice_failure(kick_attach_fifo(fifo.path, facts.pid));
                          return false;
                        },
                        [&](const mpir::report_daemons&) {
                          report_daemons();
                          return false;
                        },
                        [&](const mpir::report_processes& report) {
                          host_is_local = local_hosts_of(*report.table, local_host::of_this_system());
                          if (attaching) {
                            coming.emplace_back(job_attached{});
                          } else {
                            coming.emplace_back(job_spawned{});
                          }
                          attaching = false;
                          gates_opened = false;
                          look_at = no_deadline;
                          return true;
                        },
                        [&](mpir::report_abort& report) {
                          coming.emplace_back(job_aborting{std::move(report.reason)});
                          return true;
                        },
                        [&](mpir::report_problem& problem) {
                          notice(std::move(problem.what));
                          return false;
                        },
                    },
                    action);
}

void job::state::keep_link_map_watch(bool wanted) {
  notice_failure(wanted ? program->watch_link_map() : program->stop_watching_link_map());
}

void job::state::run_on() {
  program->about_to_run();
  stopped = false;
  notice_failure(control->resume(facts.pid));
}

}  // namespace mpiacq
