// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <array>
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

json json_of_processes_of(const job& subject) {
  const auto table = subject.processes();
  if (!table) return json::array();
  std::vector<bool> is_local;
  for (std::size_t i = 0; i < table->size(); ++i) is_local.push_back(subject.is_local(i));
  return json_of_processes({*table, subject.rank_states(), std::move(is_local)});
}

}  // namespace

std::string job_json(const job_snapshot& snapshot) {
  const job& subject = snapshot.subject;
  const auto table = subject.processes();
  json problems = json::array();
  for (const error& problem : snapshot.problems) problems.push_back(problem.message);
  constexpr std::array<std::string_view, 3> events = {"spawned", "attached", "aborting"};
  json document = {{"schema", "mpiacq.job/1"},
                   {"interface", "mpir"},
                   {"event", events[static_cast<std::size_t>(snapshot.what)]},
                   {"abort_reason", tool::or_null(snapshot.abort_reason)},
                   {"starter", json_of_starter(subject)},
                   {"layout", json_of(table ? &table->layout() : nullptr)},
                   {"symbols", subject.symbols() == nullptr ? json::object() : json_of(*subject.symbols())},
                   {"facts", json_of(subject.facts())},
                   {"queue_library", tool::or_null(subject.queue_library())},
                   {"processes", json_of_processes_of(subject)},
                   {"problems", std::move(problems)}};
  if (snapshot.stacks != nullptr) document["stacks"] = json_of_stacks(*snapshot.stacks);
  if (snapshot.queues != nullptr) document["queues"] = json_of_queues(*snapshot.queues);
  return dump(document);
}

}  // namespace mpiacq::tool
