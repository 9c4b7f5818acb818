// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "parts/mpi2dd_events.hpp"

#include <utility>

#include "errors/try.hpp"

namespace mpiacq {

namespace {

using mpi2dd::debug_state;

/// These events are about the process that raises them. Others may be about the tables of other processes, too.
bool is_about_its_process(debug_state state) {
  return state == debug_state::directory_changed || state == debug_state::metadirectory_changed ||
         state == debug_state::abort;
}

}  // namespace

bool starts_ranks(debug_state state) {
  return state == debug_state::start || state == debug_state::spawn;
}

result<running_job> look_at_running_job(event_graph& graph, process_id process) {
  (void)TRY(graph.walk_from(process));
  running_job job;
  job.has_table = !graph.table()->empty() && !graph.is_starter_before_start(process);
  for (process_abort& one : graph.aborts_here()) {
    job.aborting.emplace_back(job_aborting{std::move(one.reason), job_change{debug_state::abort, one.process, {}, 0}});
  }
  return job;
}

result<job_change> read_change(event_graph& graph, process_id raised_by, const mpi2dd::report_event& event) {
  auto changed = TRY(is_about_its_process(event.state) ? graph.reread(raised_by, event.changed)
                                                       : graph.reread_what_changed(raised_by, event.changed));
  return job_change{event.state, raised_by, std::move(changed.came), changed.left};
}

job_event event_of(job_change change, std::optional<std::string> reason, bool is_first_table) {
  const debug_state state = change.state;
  if (state == debug_state::start && is_first_table) return job_attached{};
  if (starts_ranks(state)) return job_spawned{std::move(change)};
  if (state == debug_state::abort) return job_aborting{std::move(reason), std::move(change)};
  return job_changed{std::move(change)};
}

}  // namespace mpiacq
