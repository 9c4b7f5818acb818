// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "mpiacq/job/job.hpp"
#include "mpiacq/job/process_table.hpp"
#include "mpiacq/job/rank_names.hpp"
#include "mpiacq/queues/queue_waits.hpp"
#include "mpiacq/ranks/rank_report.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "report/job_origin.hpp"
#include "report/rank_hosts.hpp"
#include "report/report_stream.hpp"

namespace mpiacq::tool {

/// The message queues of a job, for one of the reports below.
struct queues_snapshot {
  starter_facts starter;
  job_origin origin;
  std::vector<job_world> worlds;  ///< by number; none with MPIR
  rank_names names;               ///< of all ranks below
  rank_hosts hosts;               ///< of the selected ranks
  group_queues seen;
  queue_waits waits;
  rank_set remote;  ///< selected ranks on other nodes
  /// The time for which ranks were stopped, in all looks together.
  std::chrono::duration<double> held{0};
  /// The number of looks. A deadlock causes a second one, because a state that passes is no deadlock.
  std::size_t looks = 0;
  /// A signal has ended the looks: some ranks may be missing, and a deadlock may not be confirmed.
  bool interrupted = false;
  bool in_process = false;       ///< the libraries were run in this program
  bool library_chosen = false;   ///< --library
  bool library_trusted = false;  ///< --trust-library
  std::string types_file;        ///< --types
  bool verbose = false;          ///< --verbose: all data of the library about each operation
  std::vector<error> problems;   ///< of the table
};

/// "complete", or another outcome: "incomplete" (there is a report that lacks something), "gone", "not-permitted",
/// "busy", "failed".
[[nodiscard]] std::string_view outcome_of(const rank_report& rank);

/// The text report: which ranks wait for which, deadlocks first; the pending operations; and the doubts. `colour` for a
/// terminal.
void write_queues_text(report_stream& out, const queues_snapshot& snapshot, bool colour);
/// The same without its first line, for the report of a job that has one.
void write_queues_body(report_stream& out, const queues_snapshot& snapshot, bool colour);

}  // namespace mpiacq::tool
