// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/job/job.hpp"
#include "mpiacq/ranks/spawn_watch.hpp"
#include "report/job_origin.hpp"
#include "report/queues_report.hpp"
#include "report/stacks_report.hpp"

namespace mpiacq::tool {

class json_writer;

/// The contents of the report of one event. The value does not refer to the job, so that the job runs while the report
/// is written.
struct job_snapshot {
  enum class event : unsigned char { spawned, attached, aborting, changed, new_processes, observed };
  event what = event::spawned;
  std::optional<std::string> abort_reason;
  std::optional<job_change> change;  ///< what an event of MPI2DD was; always there for `changed`
  std::optional<rank_spawn> spawn;   ///< always there for `new_processes`

  starter_facts starter;
  mpir::job_facts facts;
  job_origin origin;
  std::vector<symbol> symbols;
  std::optional<std::string> queue_library;
  std::shared_ptr<const process_table> processes;  ///< null before there is one; the rest is of its entries
  std::vector<rank_state> states;
  entry_locality locality;
  std::vector<rank_facts> facts_of_ranks;

  std::vector<error> problems;            ///< of the job as a whole: JSON all so far, text those not yet shown
  std::optional<stacks_snapshot> stacks;  ///< --stacks
  std::optional<queues_snapshot> queues;  ///< --queues
};
/// The current state of the job. The caller sets the event.
[[nodiscard]] job_snapshot snapshot_of(const job& subject);

/// The text report: a headline, the table, and notes about it.
void write_job_text(report_stream& out, const job_snapshot& snapshot, bool colour);

/// Whether the text report of this event is long enough to contain the problems.
[[nodiscard]] bool shows_problems(const job_snapshot& snapshot);

/// A `mpiacq.job/1` document.
void write_job(json_writer& out, const job_snapshot& snapshot);

}  // namespace mpiacq::tool
