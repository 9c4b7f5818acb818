// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

#include "commands/commands.hpp"
#include "commands/exit_status.hpp"
#include "errors/try.hpp"
#include "mpiacq/job/job_list.hpp"
#include "options/report_options.hpp"
#include "report/jobs_report.hpp"
#include "report/json/json_writer.hpp"
#include "report/report_file.hpp"

namespace mpiacq::tool {

namespace {

std::size_t terminal_width(const report_file& report) {
  winsize size{};
  const bool is_known = report.is_terminal() && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return is_known ? size.ws_col : 0;
}

result<int> run(const report_options& options) {
  const auto report = TRY(report_file::open(options, STDOUT_FILENO));
  auto list = TRY(list_jobs({search_without_downloads(options)}));
  jobs_snapshot snapshot{std::move(list), terminal_width(report)};
  report.write([seen = std::move(snapshot), json = options.json](report_stream& out) {
    if (!json) return out.write("mpiacq: " + jobs_text(seen));
    json_writer document(out);
    write_jobs(document, seen);
    out.put('\n');
  });
  return status_ok;
}

declared_command declare_jobs(CLI::App& app) {
  const auto options = std::make_shared<report_options>();
  add_report_options(app, *options);
  return {.run = [options] { return run(*options); }};
}

}  // namespace

const command jobs_command = {
    .name = "jobs",
    .purpose = "Lists the parallel jobs on this node",
    .example = "mpiacq jobs",
    .usage = "",
    .details =
        R"(For each job the list has a process id to give to the other commands (JOB), the launcher, the source of what is known, how many of its ranks are on this node, its user, its age and its command.

Sources: mpi2dd and mpir are tables that the job's starter publishes. pmix is a starter that answers tools (Open MPI 5, PRRTE). environment stands for the variables that launchers set for each rank (Open MPI, PRRTE, Hydra, Slurm, Flux, PALS, torchrun); it shows the ranks of this node if there is no table.

You see your own jobs; root sees those of all users. Nothing is stopped, and no other node is asked.

Another example:
  mpiacq jobs --json

Exit status: 0, also if there is no job; 125 if mpiacq failed.
)",
    .declare = declare_jobs};

}  // namespace mpiacq::tool
