// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A starter without an interface: its ranks are known by the variables that it sets for them.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "control/environment_rank_control.hpp"
#include "control/job_state.hpp"
#include "errors/try.hpp"
#include "launcher_hosts.hpp"
#include "proc/process_facts.hpp"
#include "views/environment_description.hpp"

namespace mpiacq {

namespace {
/// While a process with an interface is alive, that interface is waited for.
constexpr std::chrono::seconds interval_beside_interface{1};
}  // namespace

bool job::state::waits_for_other_ranks(const followed_process& process) {
  if (!awaited) return false;
  const auto facts_of_process = process_facts::open(process.pid);
  if (!facts_of_process || !facts_of_process->environment()) return false;
  const auto seen = awaited->at_entry(process.pid, *facts_of_process->environment(), clock::now());
  if (!seen.is_rank) {
    note_ssh(*facts_of_process);
    return false;
  }
  timers.set(job_timer::ranks, awaited->next_look({}));
  // A rank of a starter with an interface has its own place to wait.
  if (!seen.is_counted || has_interface_somewhere()) return false;
  awaited->hold(process.pid);
  return true;
}

void job::state::note_ssh(const process_facts& process) {
  const auto& words = process.command_line();
  const auto host = words ? host_in_ssh_command(*words) : std::nullopt;
  if (!host) return;
  const auto parent = process_facts::open(process.parent());
  if (!parent || launcher_program_of(*parent).launcher == nullptr) return;
  elsewhere.add(parent->pid(), *host, clock::now());
}

void job::state::note_ranks_elsewhere() {
  if (awaited->count() != 0) return;
  if (auto problem = elsewhere.take_problem()) events.notice(std::move(*problem));
}

bool job::state::has_interface_somewhere() const {
  return std::any_of(processes.begin(), processes.end(), [this](const auto& one) {
    return !one.second.ended && one.second.has_interface() && !(awaited && awaited->is_rank(one.first));
  });
}

void job::state::release_waiting_ranks(std::span<const process_id> which) {
  for (const process_id pid : which) {
    followed_process* const process = find(pid);
    if (process == nullptr || process->ended || !std::exchange(process->stays, false)) continue;
    if (process->stopped) run_on(*process);
  }
}

/// The environment of a process changes before its program is at its entry point, where it is to be held.
bool job::state::is_on_its_way(const starting_job& seen) {
  const process_table& ranks_seen = *seen.job.processes;
  for (const entry_index entry : ranks_seen.entries()) {
    const followed_process* const process = find(ranks_seen.pid(entry));
    if (process != nullptr && !process->ended && !awaited->is_rank(process->pid)) return true;
  }
  return false;
}

void job::state::look_for_ranks() {
  if (asking && life.is_controlled()) return ask_starter_by_pmix();
  if (!awaited || search.is_over() || !life.is_controlled()) return;
  if (has_interface_somewhere()) {
    release_waiting_ranks(awaited->take_overdue(clock::now()));
    return timers.set(job_timer::ranks, interval_beside_interface);
  }
  const deadline begin = clock::now();
  auto found = starting_job_below(life.root());
  const deadline now = clock::now();
  const std::size_t ranks_there = found ? found->job.processes->size() : 0;
  const auto count = !found ? rank_count::uncounted : is_on_its_way(*found) ? rank_count::lacking : found->count;
  if (awaited->is_to_be_reported(ranks_there, count, now)) {
    if (!found->is_started_below) {
      found->job.starter.pid = life.root();
      found->job.starter.executable = find(life.root()) != nullptr ? find(life.root())->executable : "";
    }
    if (options.interface == interface_kind::environment) return take_environment_job(std::move(found->job));
    stop_tracing(found->job);
    asking.emplace(std::move(found->job), options.interface == interface_kind::pmix);
    return ask_starter_by_pmix();
  }
  if (!found && elsewhere.is_certain(now)) note_ranks_elsewhere();
  if (found) partial = std::move(found->job);
  // Only after the look: a rank that is released may end before the next one.
  release_waiting_ranks(awaited->take_overdue(now));
  timers.set(job_timer::ranks, awaited->next_look(now - begin));
}

void job::state::note_unreported_ranks() {
  if (!awaited || table.processes()) return;
  if (awaited->count() == 0) return note_ranks_elsewhere();
  const std::size_t seen = partial ? partial->processes->size() : 0;
  events.notice(error{error_code::not_found,
                      fmt::format("the starter ended before all ranks had appeared: {} had started, and {} of them "
                                  "were there at the last look",
                                  awaited->count(), seen)});
  if (!partial) return;
  for (error& problem : partial->problems) events.notice(std::move(problem));
}

void job::state::take_environment_job(job_description found) {
  stop_tracing(found);
  report_job(std::move(found));
}

void job::state::stop_tracing(const job_description& found) {
  const bool is_launched = life.is_launched();
  std::set<process_id> at_entry, in_table;
  for (const entry_index entry : found.processes->entries()) in_table.insert(found.processes->pid(entry));
  for (auto& [pid, process] : processes) {
    if (!is_launched || process.ended) continue;
    undo_in(process);
    if (in_table.contains(pid) && process.stopped && process.stays) {
      at_entry.insert(pid);
    } else {
      events.notice_failure(control->detach(pid));
    }
  }
  std::erase_if(processes, [&](const auto& one) { return one.first != life.root(); });
  events.drop_deferred();
  const process_id starter_pid = found.starter.pid;
  processes.erase(starter_pid);
  const auto [place, is_new] = processes.try_emplace(starter_pid, traps, starter_pid, options.debug_files,
                                                     make_untraced_interface(interface_kind::environment, found.facts));
  for (auto& [pid, process] : processes) {
    process.is_traced = process.stopped = process.stays = process.waits = false;
  }
  place->second.executable = found.starter.executable;
  (void)search.has_spawned(starter_pid);
  facts = found.starter;
  facts.launched = is_launched;
  life.set_starter(starter_pid);
  timers.clear(job_timer::ranks);
  timers.clear(job_timer::table);
  ranks = std::make_unique<environment_rank_control>(*control, std::move(at_entry));
}

void job::state::report_job(job_description found) {
  if (life.is_launched()) {
    found.starter.found_how.clear();
    if (found.starter.pid != life.root()) {
      found.starter.found_how =
          fmt::format("what was launched is process {}; the starter is process {}, its descendant", life.root().value(),
                      found.starter.pid.value());
    }
  }
  found.starter.launched = life.is_launched();
  facts = found.starter;
  launcher = found.launcher;
  take_table(found.processes);
  for (error& problem : found.problems) events.notice(std::move(problem));
  awaited.reset();
  ask_for_daemons();
  if (life.take_first_table()) {
    events.add(job_attached{});
  } else {
    events.add(job_spawned{});
  }
}

result<void> job::state::trace_starter() {
  followed_process& process = starter();
  if (process.is_traced || life.is_launched()) return {};
  const auto seen = process_facts::open(process.pid);
  const bool is_starter = seen && launcher_program_of(*seen).is_starter;
  if (!is_starter) {
    return fail(error_code::unsupported,
                "no process of this node that could end the job is known: its starter runs on another node, or is no "
                "program of a known launcher. Nothing was ended");
  }
  if (table.is_other_users(process.pid)) {
    return fail(error_code::permission, fmt::format("the starter {} belongs to another user than the ranks: it was not "
                                                    "ended",
                                                    process.pid.value()));
  }
  TRY(control->attach(process.pid));
  process.is_traced = process.stopped = true;
  return {};
}

}  // namespace mpiacq
