// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// From what the tracer reports to what the interface answers, and the doing of it.
#include <algorithm>
#include <csignal>
#include <utility>
#include <variant>

#include "control/job_state.hpp"
#include "proc/local_host.hpp"
#include "proc/process_state.hpp"
#include "starter/attach_fifo.hpp"

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

bool needs_no_answer(const job_event& event) {
  return std::holds_alternative<job_notice>(event);
}
}  // namespace

void job::state::handle(const process_event& event) {
  if (const auto* birth = std::get_if<process_born>(&event.what)) return at_birth(event.process, birth->parent);
  followed_process* const found = find(event.process);
  if (found == nullptr) return ranks->handle(event);
  followed_process& process = *found;
  const bool is_starter = &process == starter;
  std::visit(overloaded{
                 [&](const entry_reached&) { at_entry(process); },
                 [&](const process_born&) {},
                 [&](const watch_hit&) { at_state_written(process); },
                 [&](const breakpoint_hit& hit) { at_breakpoint(process, hit.address); },
                 [&](const interrupted&) {
                   process.stopped = true;
                   // The answer to a `hold` that had given up on it.
                   if (!holding) run_on(process);
                 },
                 [&](const group_stopped& stop) {
                   if (is_starter) coming.emplace_back(starter_stopped{stop.signal});
                 },
                 [&](const group_continued&) {
                   if (is_starter) coming.emplace_back(starter_continued{});
                 },
                 [&](const tracing_problem& problem) { notice(problem.what); },
                 [&](const control_lost& loss) { at_loss(process, loss.why); },
                 [&](const process_ended& end) {
                   process.is_member ? at_member_end(process, end.status) : at_end(process, end.status);
                 },
             },
             event.what);
}

followed_process* job::state::find(process_id pid) {
  for (auto* all : {&followed_processes, &members}) {
    if (const auto found = all->find(pid); found != all->end()) return &found->second;
  }
  return nullptr;
}

/// A wrapper has made a process: it may exec the starter.
void job::state::at_birth(process_id pid, process_id parent) {
  const auto from = followed_processes.find(parent);
  // What the starter makes is its own business.
  const bool follow = !decided && !detached && from != followed_processes.end() && !from->second.has_interface();
  if (!follow) return notice_failure(control->detach(pid));
  finish_at = no_deadline;
  run_on(add_candidate(pid));
}

void job::state::at_entry(followed_process& process) {
  process.stopped = true;
  if (detached) return run_on(process);
  process.executable = executable_of(process.pid);
  if (&process == starter && !process.executable.empty()) facts.executable = process.executable;
  if (auto opened = process.program.open(); !opened) {
    notice_failure(fail(std::move(opened).error().while_doing("looking for the starter's symbols")));
    run_on(process);
    return;
  }
  const bool stay = carry_out(process, process.interface->at_entry(process.program.view()));
  if (facts.launched && !decided) {
    notice_failure(control->follow_children(process.pid, !process.has_interface()));
  }
  if (!stay) run_on(process);
  (void)this_host();
}

const local_host& job::state::this_host() {
  if (!here) here = local_host::of_this_system();
  return *here;
}

void job::state::at_breakpoint(followed_process& process, target_address where) {
  process.stopped = true;
  if (detached) return run_on(process);
  bool stay = false;
  if (process.program.is_link_map_watch(where)) {
    const auto changed = process.program.symbols()->refresh();
    if (!changed) notice_failure(fail(changed.error()));
    if (changed && *changed) {
      stay = carry_out(process, process.interface->modules_changed(process.program.view()));
      if (!process.is_member && process.has_interface()) notice_failure(control->follow_children(process.pid, false));
    }
  } else if (where == process.interface->breakpoint()) {
    stay = carry_out(process, process.interface->at_breakpoint(process.program.view()));
  }
  if (!stay) run_on(process);
}

/// The write comes before MPIR_Breakpoint is called, and is all there is to see where that was inlined.
void job::state::at_state_written(followed_process& process) {
  process.stopped = true;
  if (detached) return run_on(process);
  if (!carry_out(process, process.interface->at_state_written(process.program.view()))) run_on(process);
}

bool job::state::carry_out(followed_process& process, process_interface::steps steps) {
  if (!steps) {
    notice_failure(fail(std::move(steps).error()));
    return false;
  }
  bool stay = false;
  bool watch = false;
  bool looked_for_symbols = false;
  const auto before = static_cast<std::ptrdiff_t>(coming.size());
  for (step& next : *steps) {
    watch = watch || std::holds_alternative<mpir::watch_modules>(next);
    looked_for_symbols = looked_for_symbols || std::holds_alternative<mpir::plant_breakpoint>(next);
    stay = carry_out_one(process, next) || stay;
  }
  // What went wrong is known before the caller decides what to do with a starter that stays stopped.
  std::stable_partition(coming.begin() + before, coming.end(), needs_no_answer);
  if (watch || looked_for_symbols) {
    notice_failure(watch ? process.program.watch_link_map() : process.program.stop_watching_link_map());
  }
  if (!decided && process.has_interface()) favour(process);
  if (&process == starter) {
    facts.is_rank = process.interface->facts().starter_is_rank || (graph && graph->is_rank(process.pid));
    for_caller = for_caller || stay;
  }
  process.waits = process.waits || stay;
  return stay;
}

bool job::state::carry_out_one(followed_process& process, step& next) {
  return std::visit(overloaded{
                        [&](const mpir::plant_breakpoint& plant) {
                          const auto planted =
                              control->insert_breakpoint(process.pid, plant.address, options.breakpoints);
                          if (!planted) notice_failure(fail(planted.error()));
                          return false;
                        },
                        [&](const mpir::lift_breakpoint& lift) {
                          notice_failure(control->remove_breakpoint(process.pid, lift.address));
                          return false;
                        },
                        [&](const write_bytes& write) {
                          notice_failure(this->write(process, write));
                          return false;
                        },
                        [&](const mpir::watch_modules&) { return false; },
                        [&](const mpir::watch_variable& watch) {
                          const auto set = control->insert_watchpoint(process.pid, watch.address, watch.length);
                          // The breakpoint alone does where it is called; some machines have no more than that.
                          if (!set && set.error().code != error_code::unsupported) notice_failure(set);
                          return false;
                        },
                        [&](const mpir::unwatch_variable& watch) {
                          const auto gone = control->remove_watchpoint(process.pid, watch.address);
                          if (!gone && gone.error().code != error_code::unsupported) notice_failure(gone);
                          return false;
                        },
                        [&](const mpir::await_table&) {
                          look_at = clock::now() + table_interval;
                          return false;
                        },
                        [&](const mpir::kick_fifo& fifo) {
                          notice_failure(kick_attach_fifo(fifo.path, process.pid));
                          return false;
                        },
                        [&](const mpir::report_daemons&) {
                          report_daemons();
                          return false;
                        },
                        [&](const mpir::report_processes& table) { return report(process, table); },
                        [&](const look_for_job&) { return look_for_job_from(process); },
                        [&](mpi2dd::report_event& event) { return report(process, event); },
                        [&](mpir::report_abort& report) {
                          decide(process);
                          coming.emplace_back(job_aborting{std::move(report.reason), {}});
                          return true;
                        },
                        [&](mpir::report_problem& problem) {
                          notice(std::move(problem.what));
                          return false;
                        },
                    },
                    next);
}

bool job::state::report(followed_process& process, const mpir::report_processes& told) {
  decide(process);
  withdraw_at_our_end(process);
  processes = told.table;
  host_is_local = local_hosts_of(*processes, this_host());
  ranks->belong_to(processes->user());
  notice_other_users_ranks();
  if (std::exchange(attaching, false)) {
    coming.emplace_back(job_attached{});
  } else {
    coming.emplace_back(job_spawned{});
  }
  gates_opened = false;
  look_at = no_deadline;
  return true;
}

/// Open MPI's ranks wait in MPI_Init for a message that mpirun sends only while MPIR_being_debugged is 1: from the
/// launch until the table is there, it has to stay, whatever becomes of us.
result<void> job::state::write(followed_process& process, const write_bytes& what) {
  if (withdrawing) {
    // In this order: if we are killed between the two, what was promised is still done.
    if (auto written = process.program.write(what.address, what.bytes); !written) return written;
    return control->restore_on_exit(process.pid, what.address, {});
  }
  if (what.at_our_end) {
    if (auto promised = control->restore_on_exit(process.pid, what.address, *what.at_our_end); !promised) {
      return promised;
    }
    return process.program.write(what.address, what.bytes);
  }
  if (!facts.launched) return process.program.write_while_here(what.address, what.bytes);
  if (what.until_the_table) process.announced = what;
  return process.program.write(what.address, what.bytes);
}

void job::state::withdraw_at_our_end(followed_process& process) {
  const auto announced = std::exchange(process.announced, std::nullopt);
  if (!announced) return;
  const std::vector<std::byte> zero(announced->bytes.size());
  notice_failure(control->restore_on_exit(process.pid, announced->address, zero));
}

void job::state::run_on(followed_process& process) {
  if (process.stays || (holding && &process == starter)) return;
  process.program.about_to_run();
  process.stopped = false;
  notice_failure(control->resume(process.pid));
}

}  // namespace mpiacq
