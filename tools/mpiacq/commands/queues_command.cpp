// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "commands/commands.hpp"
#include "commands/complaints.hpp"
#include "commands/exit_status.hpp"
#include "errors/try.hpp"
#include "options/option_parts.hpp"
#include "report/json/json_writer.hpp"
#include "report/json/queues_json.hpp"
#include "report/report_file.hpp"
#include "sessions/queues_session.hpp"
#include "sessions/ranks_look.hpp"
#include "text/signal_name.hpp"

namespace mpiacq::tool {

namespace {

struct queues_options : observation_options {
  bool verbose = false;  ///< print all that the queue library says of each operation
};

/// Printed beside the report, which may be JSON or in a file.
void complain_of_signal(int number, const queues_snapshot& seen) {
  const auto& ranks = seen.seen.ranks;
  const auto read = std::count_if(ranks.begin(), ranks.end(), [](const rank_report& rank) { return !!rank.report; });
  complain(fmt::format("ended by {}: the queues of {} of {} ranks had been read, and all ranks go on",
                       base::signal_name(number), read, ranks.size()));
}

result<int> run(const queues_options& options) {
  auto report = TRY(report_file::open(options.report, STDOUT_FILENO));
  signal_catcher signals{when_busy::end};
  const auto look = look_for_ranks(options, signals);
  if (!look) return look.error();
  const job_description& job = look->job;
  queues_session session(look->ranks, job, look->selection, request_for(options.queue, job));
  session.snapshot().problems = job.problems;
  session.snapshot().verbose = options.verbose;
  look_with_progress(session);
  const auto signal = signals.take();
  const bool rank_failed = session.rank_failed();
  const auto seen = std::make_shared<const queues_snapshot>(std::move(session.snapshot()));
  report.write([seen, json = options.report.json, colour = report.wants_colour()](report_stream& out) {
    if (!json) return write_queues_text(out, *seen, colour);
    json_writer document(out);
    write_queues(document, *seen);
    out.put('\n');
  });
  if (signal) {
    complain_of_signal(signal->number, *seen);
    return status_by_signal(signal->number);
  }
  return rank_failed ? status_rank_failed : status_ok;
}

declared_command declare_queues(CLI::App& app) {
  const auto options = std::make_shared<queues_options>();
  add_observation_options(app, *options);
  app.add_flag("--verbose", options->verbose,
               "List every operation with its status, its buffer, the actual message and the library's own lines");
  return {.run = [options] { return run(*options); }};
}

}  // namespace

const command queues_command = {
    .name = "queues",
    .purpose = "Shows the pending messages of all ranks, and which rank waits for which",
    .example = "mpiacq queues 4242",
    .usage = "[JOB]",
    .details =
        R"(The ranks are stopped while their message queues are read by the debugger library of their MPI, which runs in a process of its own. mpiacq matches sends and receives across ranks, looks at the calls that the ranks are in, and reports which rank waits for which, and which ranks are in a deadlock. The report goes to standard output.

Open MPI shows its queues only with the PML ob1 (mpirun --mca pml ob1 ...). If Open MPI was installed without debug information, as distributions do, run 'mpiacq types openmpi' once: it makes the types that the library needs.

Without JOB, mpiacq takes the only job on this node; 'mpiacq jobs' lists them.

More examples:
  mpiacq queues --json --ranks comm:MPI_COMM_WORLD 4242
  mpiacq queues --types openmpi.types --library /opt/mpi/lib/libompi_dbg_msgq.so 4242

Exit status: 0; 1 if the queues of a rank could not be read completely; 125 if mpiacq failed or the job has no process table; 128 + N after signal N.
)",
    .declare = declare_queues};

}  // namespace mpiacq::tool
