// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What an MPI2DD job tells of itself, by its starter, its ranks and its directories.
#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "control/job_state.hpp"
#include "control/mpi2dd_rank_control.hpp"
#include "proc/local_host.hpp"

namespace mpiacq {

namespace {

/// These two are about the process that raises them. An event of any other kind may be about tables of others too.
bool is_of_one_process(mpi2dd::debug_state state) {
  return state == mpi2dd::debug_state::directory_changed || state == mpi2dd::debug_state::metadirectory_changed ||
         state == mpi2dd::debug_state::abort;
}

/// What a program that has both interfaces would be asked for, if it had not MPI2DD.
bool has_mpir(process_symbols& symbols) {
  constexpr std::array<std::string_view, 2> names = {"MPIR_proctable", "MPIR_Breakpoint"};
  const auto found = symbols.find_symbols(names);
  return found && std::all_of(found->begin(), found->end(), [](const auto& one) { return one.has_value(); });
}

}  // namespace

tracked_graph& job::state::graph_from(const followed_process& process) {
  if (!graph) graph.emplace(process.pid, options.limits, options.debug_files);
  return *graph;
}

/// A process that was attached to. Empty tables, and those of a starter that has not raised START, are of a job that
/// is being launched: that event is waited for. A starter that aborts is not waited for.
bool job::state::look_for_job_from(followed_process& process) {
  if (process.is_member || graph) return false;
  const auto walked = graph_from(process).walk_from(process.pid);
  if (!walked) {
    notice_failure(fail(walked.error()));
    return false;
  }
  const mpi2dd::visit* self = graph->visit_of(process.pid);
  const bool is_early = self != nullptr && self->is_starter() && self->info->block.state == mpi2dd::debug_state::none;
  const bool has_table = !graph->table()->empty() && !is_early;
  auto aborts = graph->aborts_here();
  if (!has_table && aborts.empty()) return false;
  decide(process);
  take_table();
  if (has_table) {
    attaching = false;
    coming.emplace_back(job_attached{});
  }
  // Their events were raised before the tool was there.
  for (tracked_graph::abort& one : aborts) {
    coming.emplace_back(
        job_aborting{std::move(one.reason), job_change{mpi2dd::debug_state::abort, one.process, {}, 0}});
  }
  return true;
}

bool job::state::report(followed_process& process, mpi2dd::report_event& event) {
  if (!process.is_member) decide(process);
  tracked_graph& known = graph_from(process);
  auto changed = is_of_one_process(event.state) ? known.reread(process.pid, event.changed)
                                                : known.reread_what_changed(process.pid, event.changed);
  if (!changed) {
    notice_failure(fail(std::move(changed).error()));
    return false;
  }
  take_table();
  const bool starts = event.state == mpi2dd::debug_state::start;
  if (starts || event.state == mpi2dd::debug_state::spawn) decide_on_gates(process);
  job_change change{event.state, process.pid, std::move(changed->came), changed->left};
  if (starts && std::exchange(attaching, false)) {
    coming.emplace_back(job_attached{});
  } else if (starts || event.state == mpi2dd::debug_state::spawn) {
    coming.emplace_back(job_spawned{std::move(change)});
  } else if (event.state == mpi2dd::debug_state::abort) {
    coming.emplace_back(job_aborting{std::move(event.reason), std::move(change)});
  } else {
    coming.emplace_back(job_changed{std::move(change)});
  }
  return true;
}

void job::state::take_table() {
  if (dynamic_cast<mpi2dd_rank_control*>(ranks.get()) == nullptr) {
    ranks = std::make_unique<mpi2dd_rank_control>(*this);
    if (starter->program.symbols() != nullptr) facts.has_both = has_mpir(*starter->program.symbols());
  }
  processes = graph->table();
  host_is_local = local_hosts_of(*processes, this_host());
  ranks->belong_to(processes->user());
  notice_other_users_ranks();
  if (!starter->interface->facts().job_id) {
    if (const auto engine = slurm_step_of(*processes, facts.pid)) starter->interface->belongs_to(*engine);
  }
  gates_opened = false;
  for (error& problem : graph->take_problems()) notice(std::move(problem));
}

void job::state::at_member_end(followed_process& process, const exit_status& status) {
  const mpi2dd::visit* seen = graph->visit_of(process.pid);
  const bool has_tables = seen != nullptr && (seen->is_directory() || seen->is_metadirectory());
  if (has_tables && status.signaled && !ended) {
    notice(error{error_code::process_gone,
                 fmt::format("process {}, which had tables of the job, was ended by signal {}: what it listed stays as "
                             "it was",
                             process.pid.value(), status.value)});
  }
  members.erase(process.pid);
}

}  // namespace mpiacq
