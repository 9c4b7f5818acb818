// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <utility>

#include <unistd.h>

#include "commands/agents_choice.hpp"
#include "commands/chosen_job.hpp"
#include "commands/commands.hpp"
#include "commands/complaints.hpp"
#include "commands/exit_status.hpp"
#include "commands/signals.hpp"
#include "errors/try.hpp"
#include "mpiacq/job/job_graph.hpp"
#include "options/option_parts.hpp"
#include "options/rank_options.hpp"
#include "report/graph_report.hpp"
#include "report/json/json_writer.hpp"
#include "report/report_file.hpp"
#include "sessions/ranks_look.hpp"

namespace mpiacq::tool {

namespace {

struct graph_command_options {
  report_options report;
  std::string subject;  ///< a process id, or a core file; empty: the only job on this node
  bool dot = false;
  core_file_options core_files;
  agent_start agents = agent_start::automatic;
};

graph_options how_to_look(const graph_command_options& options) {
  graph_options how;
  how.debug_files = search_in(options.report);
  how.files = options.core_files;
  return how;
}

/// Reads the graph, through agents on other nodes. A signal ends the look and the agents.
result<job_graph> graph_with_agents(process_id named, graph_options how, agent_start wanted,
                                    std::optional<int>& interrupted) {
  signal_catcher signals{when_busy::end};
  how.agents = agents_for_tables(named, wanted, signals.descriptor());
  auto seen = look_at_graph(named, how);
  if (const auto signal = signals.take()) interrupted = signal->number;
  return seen;
}

result<job_graph> graph_of(const graph_command_options& options, std::optional<int>& interrupted) {
  const graph_options how = how_to_look(options);
  // A core file whose name is a number can be given as ./NUMBER.
  const auto process = process_id_in(options.subject);
  if (!process) return read_graph(options.subject, how);
  return options.agents == agent_start::none ? look_at_graph(*process, how)
                                             : graph_with_agents(*process, how, options.agents, interrupted);
}

result<int> run(graph_command_options options) {
  const auto report = TRY(report_file::open(options.report, STDOUT_FILENO));
  const auto operand = job_in(options.subject);
  const bool is_of_slurm = operand && std::holds_alternative<slurm_job>(*operand);
  if (options.subject.empty() || is_of_slurm) {
    const auto named = job_meant(operand, options.report);
    if (!named) return status_tool_failed;
    options.subject = std::to_string(named->value());
  }
  std::optional<int> interrupted;
  auto job = graph_of(options, interrupted);
  if (!job) {
    complain(job.error());
    return interrupted ? status_by_signal(*interrupted) : status_tool_failed;
  }
  complain_of_nodes(*job);
  report.write([job = std::make_shared<job_graph>(std::move(*job)), json = options.report.json, dot = options.dot,
                colour = report.wants_colour()](report_stream& out) {
    if (!json) return out.write(dot ? graph_dot(*job) : graph_text(*job, colour));
    json_writer document(out);
    write_graph(document, *job);
    out.put('\n');
  });
  return interrupted ? status_by_signal(*interrupted) : status_ok;
}

declared_command declare_graph(CLI::App& app) {
  const auto options = std::make_shared<graph_command_options>();
  app.add_option(
      "JOB|CORE", options->subject,
      "Any process of the job, slurm:ID[.STEP], or the core file of a process. Default: the only job on this node");
  add_agents_option(app, options->agents);
  add_core_file_options(app, options->core_files);
  add_report_options(app, options->report);
  app.add_flag("--dot", options->dot, "Write the graph for Graphviz")->excludes(app.get_option("--json"));
  return {.run = [options] { return run(*options); }};
}

}  // namespace

const command graph_command = {
    .name = "graph",
    .purpose = "Shows the processes of an MPI2DD job as a graph: metadirectories, directories, worlds and spawns",
    .example = "mpiacq graph 4242",
    .usage = "[JOB|CORE]",
    .details =
        R"(mpiacq walks from the given process (the starter, a directory, a metadirectory or a rank) through the whole job: on this node itself, on other nodes through agents. It stops no process. The graph shows what cannot be reached or read, and why. The report goes to standard output.

More examples:
  mpiacq graph --json -o graph.json 4242
  mpiacq graph --dot 4242 | dot -Tsvg -o job.svg
  mpiacq graph core.4242

Exit status: 0; 125 if the process cannot be read or has no MPI2DD; 128 + N after signal N.
)",
    .declare = declare_graph};

}  // namespace mpiacq::tool
