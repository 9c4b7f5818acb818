// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "commands/core_command.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "commands/advice.hpp"
#include "commands/exit_status.hpp"
#include "errors/try.hpp"
#include "mpiacq/job/core_table.hpp"
#include "report/json/json_writer.hpp"
#include "report/json/table_json.hpp"
#include "report/report_file.hpp"
#include "report/text/table_text.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

void write_core(json_writer& out, const core_table& job) {
  const process_table* table = job.processes.get();
  out.begin_object()
      .members({{"schema", "mpiacq.job/1"},
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
                {"queue_library", nullptr}})
      .key("processes");
  if (table != nullptr) {
    write_processes(out, {*table, job.states, job.locality});
  } else {
    out.begin_array().end_array();
  }
  out.key("lacking").value(or_null(job.missing_symbols)).key("problems").begin_array();
  for (const error& problem : job.problems) out.value(problem.message);
  out.end_array().end_object();
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
  if (job.missing_symbols) text += "  lacking: " + advised(*job.missing_symbols) + "\n";
  return text;
}

}  // namespace

result<int> run_core(const attach_command_options& options) {
  const auto report = TRY(report_file::open(options.report, STDOUT_FILENO));
  const auto job = std::make_shared<const core_table>(
      TRY(read_core(options.core, {options.core_files, search_in(options.report), {}})));
  report.write([job, json = options.report.json](report_stream& out) {
    if (!json) return out.write(core_text(*job));
    json_writer document(out);
    write_core(document, *job);
    out.put('\n');
  });
  return job->processes ? status_ok : status_tool_failed;
}

}  // namespace mpiacq::tool
