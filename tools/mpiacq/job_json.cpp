// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "job_report.hpp"
#include "json_parts.hpp"
#include "queues_json.hpp"
#include "stacks_json.hpp"
#include "table_json.hpp"

namespace mpiacq::tool {

namespace {

json json_of_starter(const job& subject) {
  const starter_facts& starter = subject.starter();
  return {{"pid", starter.pid.value()},
          {"executable", starter.executable},
          {"mode", starter.launched ? "launch" : "attach"},
          {"is_rank", starter.is_rank},
          {"has_both", starter.has_both},
          {"found_how", starter.found_how.empty() ? json(nullptr) : json(starter.found_how)},
          {"job_id", or_null(subject.facts().job_id)},
          {"step_id", or_null(subject.facts().step_id)}};
}

/// What a tool acts on beside the processes (MPIR 1.1, 7.1, 9.11 to 9.14).
json json_of(const mpir::job_facts& facts) {
  return {{"acquired_pre_main", facts.acquired_pre_main},
          {"force_to_main", facts.force_to_main},
          {"partial_attach_ok", facts.partial_attach_ok},
          {"ignore_queues", facts.ignore_queues},
          {"daemons", mpir::name(facts.daemons)}};
}

/// MPIR's three, what a queue library names, and a name for each state of MPI2DD.
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

json json_of_change(const job_snapshot& snapshot) {
  if (snapshot.change == nullptr) return nullptr;
  const job_change& change = *snapshot.change;
  const auto table = snapshot.subject.processes();
  const auto entry = entry_of(table.get(), change.raised_by);
  return {{"state", mpi2dd::name(change.state)},
          {"raised_by",
           {{"pid", change.raised_by.value()},
            {"world", entry ? world_id(*table, *entry) : json(nullptr)},
            {"rank", entry ? json(table->names().rank(*entry)) : json(nullptr)}}},
          {"came", change.came},
          {"left", change.left}};
}

json json_of_symbols(const job& subject) {
  json all = json::object();
  for (const symbol& one : subject.interface_symbols()) {
    all[one.name] = {{"module", one.home->path}, {"address", fmt::format("{:#x}", one.address().value())}};
  }
  return all;
}

json json_of_processes_of(const job& subject) {
  const auto table = subject.processes();
  if (!table) return json::array();
  std::vector<bool> is_local;
  for (std::size_t i = 0; i < table->size(); ++i) is_local.push_back(subject.is_local(i));
  return json_of_processes({*table, subject.rank_states(), std::move(is_local), subject.facts_of_ranks()});
}

}  // namespace

std::string job_json(const job_snapshot& snapshot) {
  const job& subject = snapshot.subject;
  const auto table = subject.processes();
  json problems = json::array();
  for (const error& problem : snapshot.problems) problems.push_back(problem.message);
  json document = {{"schema", "mpiacq.job/1"},
                   {"interface", name(subject.interface())},
                   {"event", event_name(snapshot)},
                   {"change", json_of_change(snapshot)},
                   {"abort_reason", tool::or_null(snapshot.abort_reason)},
                   {"starter", json_of_starter(subject)},
                   {"layout", json_of(table ? &table->layout() : nullptr)},
                   {"symbols", json_of_symbols(subject)},
                   {"facts", json_of(subject.facts())},
                   {"queue_library", tool::or_null(subject.queue_library())},
                   {"worlds", table ? json_of_worlds(table->worlds()) : json::array()},
                   {"processes", json_of_processes_of(subject)},
                   {"problems", std::move(problems)}};
  if (snapshot.stacks != nullptr) document["stacks"] = json_of_stacks(*snapshot.stacks);
  if (snapshot.queues != nullptr) document["queues"] = json_of_queues(*snapshot.queues);
  return dump(document);
}

}  // namespace mpiacq::tool
