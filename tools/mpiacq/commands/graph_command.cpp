// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <memory>
#include <optional>
#include <utility>

#include <unistd.h>

#include "commands/agents_choice.hpp"
#include "commands/commands.hpp"
#include "commands/exit_status.hpp"
#include "commands/ranks_look.hpp"
#include "commands/signals.hpp"
#include "mpiacq/job/job_graph_agents.hpp"
#include "report/graph_report.hpp"
#include "report/json/json_writer.hpp"
#include "report/report_file.hpp"

namespace mpiacq::tool {

namespace {

/// A number is a process; a core file of that name can be given as ./NUMBER.
std::optional<process_id> process_named(const std::string& subject) {
  std::int64_t pid = 0;
  const auto [end, problem] = std::from_chars(subject.data(), subject.data() + subject.size(), pid);
  const bool is_number = problem == std::errc{} && end == subject.data() + subject.size() && pid > 0;
  return is_number ? std::optional(process_id{pid}) : std::nullopt;
}

graph_options how_to_look(const graph_command_options& options) {
  graph_options how;
  how.debug_files = search_in(options.report);
  how.files = {options.executable, options.sysroot};
  return how;
}

/// A look that starts agents, which are to be told when somebody does not want it any more.
result<job_graph> graph_with_agents(process_id named, const graph_options& how, agent_start wanted,
                                    std::optional<int>& interrupted) {
  signal_catcher signals{when_busy::end};
  auto seen = look_at_graph(named, how, agents_for_tables(named, wanted, signals.descriptor()));
  if (const auto signal = signals.take()) interrupted = signal->number;
  return seen;
}

result<job_graph> graph_of(const graph_command_options& options, std::optional<int>& interrupted) {
  const graph_options how = how_to_look(options);
  const auto process = process_named(options.subject);
  if (!process) return read_graph(options.subject, how);
  return options.agents == agent_start::none ? look_at_graph(*process, how)
                                             : graph_with_agents(*process, how, options.agents, interrupted);
}

}  // namespace

int run_graph(const graph_command_options& options) {
  auto report = report_file::open(options.report, STDOUT_FILENO);
  if (!report) {
    complain(report.error());
    return status_tool_failed;
  }
  std::optional<int> interrupted;
  auto job = graph_of(options, interrupted);
  if (!job) {
    complain(job.error());
    return interrupted ? status_by_signal(*interrupted) : status_tool_failed;
  }
  complain_of_nodes(*job);
  report->write([job = std::make_shared<job_graph>(std::move(*job)), json = options.report.json, dot = options.dot,
                 colour = report->wants_colour()](report_stream& out) {
    if (!json) return out.write(dot ? graph_dot(*job) : graph_text(*job, colour));
    json_writer document(out);
    write_graph(document, *job);
    out.put('\n');
  });
  return interrupted ? status_by_signal(*interrupted) : status_ok;
}

}  // namespace mpiacq::tool
