// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "report/job_report.hpp"
#include "report/json/json_parts.hpp"
#include "report/json/queues_json.hpp"
#include "report/json/stacks_json.hpp"
#include "report/json/table_json.hpp"

namespace mpiacq::tool {

namespace {

json json_of_starter(const job_snapshot& snapshot) {
  const starter_facts& starter = snapshot.starter;
  return {{"pid", starter.pid.value()},
          {"executable", starter.executable},
          {"mode", starter.launched ? "launch" : "attach"},
          {"is_rank", starter.is_rank},
          {"has_both", starter.has_both},
          {"found_how", starter.found_how.empty() ? json(nullptr) : json(starter.found_how)},
          {"job_id", or_null(snapshot.facts.job_id)},
          {"step_id", or_null(snapshot.facts.step_id)}};
}

/// The facts that a tool needs beside the processes (MPIR 1.1, 7.1, 9.11 to 9.14).
json json_of(const mpir::job_facts& facts) {
  return {{"acquired_pre_main", facts.acquired_pre_main},   {"force_to_main", facts.force_to_main},
          {"partial_attach_ok", facts.partial_attach_ok},   {"ignore_queues", facts.ignore_queues},
          {"can_launch_daemons", facts.can_launch_daemons}, {"daemons", mpir::name(facts.daemons)}};
}

/// The name of the event: MPIR's three, new processes of a queue library, "observed" for a job that is only looked at,
/// and a name for each state of MPI2DD.
std::string_view event_name(const job_snapshot& snapshot) {
  switch (snapshot.what) {
    case job_snapshot::event::spawned:
      return "spawned";
    case job_snapshot::event::attached:
      return "attached";
    case job_snapshot::event::aborting:
      return "aborting";
    case job_snapshot::event::new_processes:
      return "new-processes";
    case job_snapshot::event::observed:
      return "observed";
    case job_snapshot::event::changed:
      break;
  }
  switch (snapshot.change->state) {
    case mpi2dd::debug_state::connect:
      return "connected";
    case mpi2dd::debug_state::accept:
      return "accepted";
    case mpi2dd::debug_state::join:
      return "joined";
    case mpi2dd::debug_state::directory_changed:
      return "directory-changed";
    default:
      return "metadirectory-changed";
  }
}

void write_change(json_writer& out, const job_snapshot& snapshot) {
  if (!snapshot.change) return (void)out.null();
  const job_change& change = *snapshot.change;
  const auto& table = snapshot.processes;
  const auto entry = entry_of(table.get(), change.raised_by);
  out.begin_object().members({{"state", mpi2dd::name(change.state)},
                              {"raised_by",
                               {{"pid", change.raised_by.value()},
                                {"world", entry ? world_id(*table, *entry) : json(nullptr)},
                                {"rank", entry ? json(table->names().rank(*entry).value()) : json(nullptr)}}}});
  out.key("came").begin_array();
  for (const entry_index entry_that_came : change.came) out.value(entry_that_came.value());
  out.end_array().member("left", change.left).end_object();
}

json json_of_symbols(const job_snapshot& snapshot) {
  json all = json::object();
  for (const symbol& one : snapshot.symbols) {
    all[one.name] = {{"module", one.home->path}, {"address", fmt::format("{:#x}", one.address().value())}};
  }
  return all;
}

}  // namespace

void write_job(json_writer& out, const job_snapshot& snapshot) {
  const auto& table = snapshot.processes;
  // A table that mpiacq has made has no layout in the memory of a process.
  const bool has_layout =
      table && snapshot.origin.source != interface_kind::environment && snapshot.origin.source != interface_kind::pmix;
  out.begin_object()
      .member("schema", "mpiacq.job/1")
      .member("interface", name(snapshot.origin.source))
      .member("source", name(snapshot.origin.source))
      .member("launcher", name(snapshot.origin.launcher))
      .member("event", event_name(snapshot))
      .key("change");
  write_change(out, snapshot);
  out.members({{"abort_reason", tool::or_null(snapshot.abort_reason)},
               {"starter", json_of_starter(snapshot)},
               {"layout", json_of(has_layout ? &table->layout() : nullptr)},
               {"symbols", json_of_symbols(snapshot)},
               {"facts", json_of(snapshot.facts)},
               {"queue_library", tool::or_null(snapshot.queue_library)},
               {"worlds", table ? json_of_worlds(table->worlds()) : json::array()}})
      .key("processes");
  if (table) {
    write_processes(out, {*table, snapshot.states, snapshot.locality, snapshot.facts_of_ranks});
  } else {
    out.begin_array().end_array();
  }
  out.key("problems").begin_array();
  for (const error& problem : snapshot.problems) out.value(problem.message);
  out.end_array();
  if (snapshot.stacks) write_stacks(out.key("stacks"), *snapshot.stacks);
  if (snapshot.queues) write_queues(out.key("queues"), *snapshot.queues);
  out.end_object();
}

}  // namespace mpiacq::tool
