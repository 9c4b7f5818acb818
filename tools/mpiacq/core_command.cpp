// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "core_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "commands.hpp"
#include "exit_status.hpp"
#include "mpiacq/core_table.hpp"
#include "report_file.hpp"
#include "table_json.hpp"
#include "table_text.hpp"
#include "text_parts.hpp"

namespace mpiacq::tool {

namespace {

std::string core_json(const core_table& job) {
  json problems = json::array();
  for (const error& problem : job.problems) problems.push_back(problem.message);
  const process_table* table = job.processes.get();
  return dump({{"schema", "mpiacq.job/1"},
               {"interface", "mpir"},
               {"event", job.aborting ? "aborting" : "attached"},
               {"abort_reason", or_null(job.abort_reason)},
               {"starter",
                {{"pid", job.starter.pid.value()},
                 {"executable", job.starter.executable},
                 {"mode", "core"},
                 {"core", {{"file", job.path}, {"signal", job.signal == 0 ? json(nullptr) : json(job.signal)}}},
                 {"is_rank", job.starter.is_rank},
                 {"job_id", or_null(job.facts.job_id)},
                 {"step_id", or_null(job.facts.step_id)}}},
               {"layout", json_of(table == nullptr || table->empty() ? nullptr : &table->layout())},
               {"symbols", json_of(job.symbols)},
               {"queue_library", nullptr},
               {"processes", table == nullptr ? json::array() : json_of_processes({*table, job.states, job.is_local})},
               {"lacking", or_null(job.lacking)},
               {"problems", std::move(problems)}});
}

std::string core_text(const core_table& job) {
  std::string text = fmt::format("mpiacq: {} (pid {}, core file {}", printable(job.starter.executable),
                                 job.starter.pid.value(), printable(job.path));
  if (job.signal != 0) text += fmt::format(", signal {}", job.signal);
  text += ")";
  const process_table* table = job.processes.get();
  if (table != nullptr) text += " had spawned " + extent_text(*table, job.facts);
  if (job.aborting) {
    text += table == nullptr ? " was aborting the job: " : ", and was aborting the job: ";
    text += job.abort_reason ? printable(*job.abort_reason) : "it gave no reason";
  } else if (table == nullptr) {
    text += " had published no processes";
  }
  text += "\n";
  if (table != nullptr) text += table_text(*table, job.states);
  text += problem_text(job.problems, table);
  if (job.lacking) text += "  lacking: " + printable(*job.lacking) + "\n";
  return text;
}

}  // namespace

int run_core(const core_report_options& options) {
  auto report = report_file::open(options.report.output, STDOUT_FILENO);
  if (!report) {
    complain(report.error());
    return status_tool_failed;
  }
  const auto job = read_core(options.core, {{options.executable, options.sysroot}, search_in(options.report), {}});
  if (!job) {
    complain(job.error());
    return status_tool_failed;
  }
  if (auto written = report->write(options.report.json ? core_json(*job) : core_text(*job)); !written) {
    complain(written.error());
    return status_tool_failed;
  }
  return job->processes ? status_ok : status_tool_failed;
}

}  // namespace mpiacq::tool
