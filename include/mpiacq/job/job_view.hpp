// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/job/process_table.hpp"
#include "mpiacq/mpi2dd/mpi2dd_reading.hpp"
#include "mpiacq/mpir/mpir_acquisition.hpp"

namespace mpiacq {

/// A job as its starter's memory shows it to somebody who only looks.
struct job_view {
  starter_facts starter;  ///< `launched` is false
  mpir::job_facts facts;
  std::shared_ptr<const process_table> processes;  ///< never null, never empty
  interface_kind interface = interface_kind::mpir;
  std::vector<bool> is_local;   ///< for each entry, whether it is on this node
  std::vector<error> problems;  ///< what is wrong with the table as a whole
};

/// How a job is looked at.
struct look_options {
  table_limits limits;
  debug_file_search debug_files;
  std::optional<interface_kind> interface = {};  ///< as job_options::interface
  /// Reads tables of an MPI2DD job that are in processes of other hosts, called on the caller's thread. Without it
  /// their ranks are not known, unless a table of this node has them too. job_view_agents.hpp has agents do it.
  mpi2dd::elsewhere_reader read_elsewhere = {};
};

/// Reads the table of a job that runs, without stopping, tracing or writing to any process: what `job::attach` does to
/// a starter (it stops it, and says that it is being debugged) is not needed by who wants nothing of it but its ranks.
/// `named` is the starter or leads to it, as for `job::attach`. A table counts as there when the starter says so
/// (MPIR_debug_state), or when every field of every entry is filled (MPIR 1.1, chapter 8, steps 5 and 6), and two reads
/// in a row are the same: the starter may be filling it. It is waited for until `until`.
/// Errors: not_found (no such process, no starter), permission, process_gone (it has ended), timed_out (no complete
/// table by then; the message says what was there).
[[nodiscard]] result<job_view> look_at_job(process_id named, const look_options& options = {},
                                           deadline until = clock::now());

}  // namespace mpiacq
