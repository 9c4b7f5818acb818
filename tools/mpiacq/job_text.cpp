// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "job_report.hpp"
#include "table_text.hpp"
#include "text_parts.hpp"

namespace mpiacq::tool {

namespace {

std::string headline(const job_snapshot& snapshot, const process_table* table) {
  const starter_facts& starter = snapshot.subject.starter();
  std::string text = fmt::format("mpiacq: {} (pid {})", printable(starter.executable), starter.pid.value());
  if (snapshot.what == job_snapshot::event::aborting) {
    text += " aborts the job: ";
    text += snapshot.abort_reason ? printable(*snapshot.abort_reason) : "it gives no reason";
    return text + "\n";
  }
  const bool attached = snapshot.what == job_snapshot::event::attached;
  return text + (attached ? " has " : " has spawned ") + extent_text(*table, snapshot.subject.facts()) + "\n";
}

}  // namespace

std::string job_text(const job_snapshot& snapshot) {
  const auto table = snapshot.subject.processes();
  const std::string& how = snapshot.subject.starter().found_how;
  if (snapshot.what == job_snapshot::event::aborting || !table) return headline(snapshot, nullptr);
  std::string text = headline(snapshot, table.get());
  if (!how.empty()) text += "  " + printable(how) + "\n";
  text += table_text(*table, snapshot.subject.rank_states());
  text += problem_text(snapshot.problems, table.get());
  if (snapshot.stacks != nullptr) text += stacks_body(*snapshot.stacks, snapshot.colour);
  if (snapshot.queues != nullptr) text += queues_body(*snapshot.queues, snapshot.colour);
  return text;
}

}  // namespace mpiacq::tool
