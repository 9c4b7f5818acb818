// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "views/mpi2dd_description.hpp"

#include <utility>

#include <fmt/format.h>

#include "errors/try.hpp"
#include "starter/look_again.hpp"
#include "starter/slurm_step.hpp"
#include "views/tracked_graph.hpp"

namespace mpiacq {

namespace {

/// A starter says START when all ranks of its world are in tables. Ranks that are there without a starter to be seen
/// are a job all the same.
bool is_complete(const tracked_graph& job, process_id starter) {
  const mpi2dd::visit* seen = job.visit_of(starter);
  const bool is_early = seen != nullptr && seen->is_starter() && seen->info->block.state == mpi2dd::debug_state::none;
  return !job.table()->empty() && !is_early;
}

mpir::job_facts facts_of(const tracked_graph& job, process_id starter) {
  mpir::job_facts facts;
  const mpi2dd::visit* seen = job.visit_of(starter);
  if (seen == nullptr) return facts;
  facts.force_to_main = seen->has(mpi2dd::mpi_flag::force_to_main);
  facts.acquired_pre_main = seen->has(mpi2dd::mpi_flag::acquired_pre_main);
  facts.partial_attach_ok = seen->has(mpi2dd::mpi_flag::partial_attach_ok);
  facts.ignore_queues = seen->has(mpi2dd::mpi_flag::ignore_queue);
  return facts;
}

}  // namespace

result<job_description> describe_mpi2dd_job(found_starter starter, const find_options& options,
                                            const time_limit& until) {
  std::shared_ptr<const process_table> before;
  for (;;) {
    TRY(still_the_starter(starter));
    tracked_graph job(starter.pid, options.limits, options.debug_files, options.read_elsewhere);
    TRY(job.walk_from(starter.pid));
    const bool complete = is_complete(job, starter.pid);
    const bool past_patience = clock::now() >= until.by;
    // A job that grows at every look is never held still: what was there at the last one stands.
    if (complete && before && (before->same_processes(*job.table()) || past_patience)) {
      job_description found;
      found.starter = {starter.pid, starter.process->executable().value_or(""), false, std::move(starter.how),
                       job.is_rank(starter.pid)};
      found.launcher = launcher_of(found.starter.executable);
      found.source = interface_kind::mpi2dd;
      found.processes = job.table();
      found.locality = entry_locality(*found.processes);
      found.facts = facts_of(job, starter.pid);
      if (auto slurm = slurm_step_of(*found.processes, starter.pid)) {
        found.facts.job_id = std::move(slurm->job);
        found.facts.step_id = std::move(slurm->step);
      }
      found.problems = job.take_problems();
      return found;
    }
    before = complete ? job.table() : nullptr;
    if (complete) continue;
    if (past_patience) {
      return fail(error_code::timed_out,
                  fmt::format("the tables of the job of {} are not complete: the job may still be starting; wait for "
                              "it, or attach to its starter",
                              with_executable(*starter.process)));
    }
    if (!wait_before_the_next_look(until)) return fail(cancelled_look());
  }
}

}  // namespace mpiacq
