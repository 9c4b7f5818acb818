// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include <unistd.h>

#include "commands/chosen_job.hpp"
#include "commands/commands.hpp"
#include "commands/core_command.hpp"
#include "commands/exit_status.hpp"
#include "errors/try.hpp"
#include "mpiacq/job/job.hpp"
#include "options/option_parts.hpp"
#include "sessions/attach_session.hpp"
#include "sessions/queues_session.hpp"
#include "sessions/session_wait.hpp"

namespace mpiacq::tool {

namespace {

std::optional<std::string> mistake_in(const attach_command_options& options) {
  const bool has_core_files = !options.core_files.executable.empty() || !options.core_files.sysroot.empty();
  if (!options.core.empty() && options.job) return "JOB and --core exclude each other: choose one of them";
  if (options.core.empty() && has_core_files) return "--executable and --sysroot need --core";
  return contradiction_in(options);
}

result<rank_selection> chosen_ranks(process_id named, const attach_command_options& options,
                                    const signal_catcher& signals) {
  if (options.ranks.communicator.empty()) return options.ranks.selection;
  const find_options how{{}, search_without_downloads(options.report), options.source};
  const auto job = TRY(job::find(named, how, deadline_after(options.timeout)));
  return ranks_of(options.ranks, job, options.queue, how.debug_files, options.agents, signals.descriptor());
}

result<int> run(attach_command_options options) {
  if (!options.core.empty()) return run_core(options);
  auto report = TRY(report_file::open(options.report, STDOUT_FILENO));
  const auto named = job_meant(options.job, options.report);
  if (!named) return status_tool_failed;
  // Before the attach: a Ctrl-C releases the job and does not only end mpiacq.
  signal_catcher signals{when_busy::end};
  options.ranks.selection = TRY(chosen_ranks(*named, options, signals));
  agents_of_job agents(options, signals.descriptor());
  agents.reach(*named);
  job_options how = job_options_of(options);
  if (options.agents != agent_start::none) how.agents = agents_for_tables(*named, options.agents, signals.descriptor());
  how.hosts = options.hosts;
  const auto attached = TRY(job::attach(*named, std::move(how)));
  return attach_session(*attached, options, agents, report, signals).run();
}

declared_command declare_attach(CLI::App& app) {
  const auto options = std::make_shared<attach_command_options>();
  options->after = then::detach;
  add_job_operand(app, options->job);
  add_hosts_option(app, options->hosts);
  add_job_command_options(app, *options, "Give up, and let the job run, if it has no process table within this time");
  app.add_option("--core", options->core, "Report the job from a core file of the starter, of any machine")
      ->type_name("FILE")
      ->group(option_group::core);
  add_core_file_options(app, options->core_files);
  return {.run = [options] { return run(*options); }, .mistake = [options] { return mistake_in(*options); }};
}

}  // namespace

const command attach_command = {
    .name = "attach",
    .purpose = "Takes control of a running job, reports its processes, and releases it",
    .example = "mpiacq attach 4242",
    .usage = "[JOB]\n--core FILE",
    .details =
        R"(The job is left as it was found, unless --then says otherwise. If JOB is not the starter, mpiacq looks for the starter among the processes of this node. Without JOB, mpiacq takes the only job on this node. If only the environment of its ranks shows the job, its starter is left alone. The report goes to standard output.

More examples:
  mpiacq attach --then stop --ranks 0-3,8 4242
  mpiacq attach --each 'gdb -batch -ex bt -p {pid}' 4242
  mpiacq attach --daemon /opt/tool/daemon --daemon-arg --port=5000 4242
  mpiacq attach --core core.4242 --sysroot /mnt/node7

Exit status: 0; 1 if a command of --each failed or a rank could not be looked at; 125 if mpiacq cannot take control of the job, or the job has no process table within --timeout; 128 + N after signal N.
)",
    .declare = declare_attach};

}  // namespace mpiacq::tool
