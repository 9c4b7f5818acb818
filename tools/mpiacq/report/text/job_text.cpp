// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/job_report.hpp"
#include "report/json/table_json.hpp"
#include "report/text/table_text.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

std::string_view what_happened(mpi2dd::debug_state state) {
  switch (state) {
    case mpi2dd::debug_state::spawn:
      return "has spawned a world";
    case mpi2dd::debug_state::connect:
      return "has connected to another world";
    case mpi2dd::debug_state::accept:
      return "has accepted a connection of another world";
    case mpi2dd::debug_state::join:
      return "has joined another process";
    case mpi2dd::debug_state::directory_changed:
      return "has changed its table of processes";
    default:
      return "has changed its tables of directories";
  }
}

std::string who_raised(const job_snapshot& snapshot) {
  const process_id pid = snapshot.change->raised_by;
  const auto& table = snapshot.processes;
  const auto entry = entry_of(table.get(), pid);
  return entry ? fmt::format("rank {} (pid {})", table->names().of(*entry), pid.value())
               : fmt::format("process {}", pid.value());
}

std::string change_headline(const job_snapshot& snapshot, const process_table& table) {
  const job_change& change = *snapshot.change;
  std::string text = fmt::format("mpiacq: {} {}: ", who_raised(snapshot), what_happened(change.state));
  if (!change.came.empty()) text += fmt::format("{} more, ", change.came.size());
  if (change.left != 0) text += fmt::format("{} gone, ", change.left);
  return text + extent_text(table, snapshot.facts) + "\n";
}

std::string headline(const job_snapshot& snapshot, const process_table* table) {
  const starter_facts& starter = snapshot.starter;
  std::string text = "mpiacq: " + starter_text(starter, snapshot.origin);
  if (snapshot.what == job_snapshot::event::aborting) {
    const bool by_rank = snapshot.change && snapshot.change->raised_by != starter.pid;
    if (by_rank) text = "mpiacq: " + who_raised(snapshot);
    text += " aborts the job: ";
    text += snapshot.abort_reason ? printable(*snapshot.abort_reason) : "it gives no reason";
    return text + "\n";
  }
  if (snapshot.change && snapshot.change->state != mpi2dd::debug_state::start) {
    return change_headline(snapshot, *table);
  }
  const bool attached = snapshot.what == job_snapshot::event::attached;
  return text + (attached ? " has " : " has spawned ") + extent_text(*table, snapshot.facts) + "\n";
}

/// Whether a short report suffices: the event that changed a table (a spawn, a connection) is reported right
/// afterwards, with all processes.
bool is_small(const job_snapshot& snapshot) {
  if (snapshot.what == job_snapshot::event::aborting) return true;
  return snapshot.change && (snapshot.change->state == mpi2dd::debug_state::directory_changed ||
                             snapshot.change->state == mpi2dd::debug_state::metadirectory_changed);
}

std::string spawn_text(const job_snapshot& snapshot) {
  const auto& table = snapshot.processes;
  const rank_spawn& spawn = *snapshot.spawn;
  const std::string who = table ? table->names().of(spawn.entry) : std::to_string(spawn.entry.value());
  std::string text;
  for (const new_process& one : spawn.processes) {
    text += fmt::format("mpiacq: rank {} has spawned process {}{}{}: {}\n", who, one.pid.value(),
                        one.host.empty() ? "" : " on ", printable(one.host), printable(one.executable));
  }
  return text;
}

}  // namespace

job_snapshot snapshot_of(const job& subject) {
  job_snapshot snapshot;
  snapshot.starter = subject.starter();
  snapshot.facts = subject.facts();
  const job_description described = subject.description();
  snapshot.origin = {described.source, described.launcher};
  snapshot.symbols = subject.interface_symbols();
  snapshot.queue_library = subject.queue_library();
  snapshot.processes = subject.processes();
  if (!snapshot.processes) return snapshot;
  snapshot.states = subject.rank_states();
  snapshot.facts_of_ranks = subject.facts_of_ranks();
  snapshot.locality = described.locality;
  return snapshot;
}

bool shows_problems(const job_snapshot& snapshot) {
  return snapshot.what != job_snapshot::event::new_processes && snapshot.processes && !is_small(snapshot);
}

void write_job_text(report_stream& out, const job_snapshot& snapshot, bool colour) {
  if (snapshot.what == job_snapshot::event::new_processes) return out.write(spawn_text(snapshot));
  const auto& table = snapshot.processes;
  const std::string& how = snapshot.starter.found_how;
  out.write(headline(snapshot, table.get()));
  if (!shows_problems(snapshot)) return;
  if (!how.empty()) out.write("  " + printable(how) + "\n");
  if (snapshot.starter.has_both) {
    out.write("  the starter has MPI2DD and MPIR; this report comes from MPI2DD (--source mpir uses the other)\n");
  }
  out.write(source_line(snapshot.origin));
  out.write(table_text(*table, snapshot.states));
  // With MPIR the facts concern the whole job; with MPI2DD each process has its own.
  const bool is_spawned = snapshot.what == job_snapshot::event::spawned;
  if (snapshot.origin.source == interface_kind::mpir) {
    out.write(facts_text(snapshot.facts, is_spawned));
  } else {
    out.write(facts_text(*table, snapshot.facts_of_ranks, is_spawned));
  }
  out.write(problem_text(snapshot.problems, table.get()));
  if (snapshot.stacks) write_stacks_body(out, *snapshot.stacks, colour);
  if (snapshot.queues) write_queues_body(out, *snapshot.queues, colour);
}

}  // namespace mpiacq::tool
