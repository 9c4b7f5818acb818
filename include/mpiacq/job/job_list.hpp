// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The jobs of this node.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/job_description.hpp"
#include "mpiacq/job/slurm_job.hpp"
#include "mpiacq/process/process_symbols.hpp"
#include "mpiacq/ranks/rank_options.hpp"

namespace mpiacq {

/// One job, as this node shows it.
struct listed_job {
  interface_kind source = interface_kind::mpir;  ///< the most capable one that the job has
  launcher_kind launcher = launcher_kind::unknown;
  /// A process that leads to the job: what `job::find` and, unless the source is the environment, `job::attach` take.
  process_id named;
  std::optional<process_id> starter;  ///< empty: no process of this node has started the ranks
  std::string executable;             ///< of the starter; empty if there is none
  std::optional<std::string> job_id;  ///< the launcher's name for the job: Slurm's "42.0", a namespace of PMIx
  /// The job of Slurm that the ranks run in, whichever launcher has started them.
  std::optional<slurm_job> slurm;
  std::size_t ranks_here = 0;                     ///< the number of ranks on this node
  std::optional<std::uint64_t> ranks;             ///< the number of ranks on all nodes; empty if nothing states it
  user_id user;                                   ///< of the ranks
  std::chrono::system_clock::time_point started;  ///< when the process `named` started
  /// The arguments of the process `named`; a long list is cut.
  std::vector<std::string> command;
  std::vector<error> problems;   ///< with this job; other jobs are listed all the same
  bool contains_caller = false;  ///< this program is a rank of the job, or descends from one
};

/// All jobs of this node that this program may look at, and how much was looked at.
struct job_list {
  std::vector<listed_job> jobs;       ///< the oldest first
  std::size_t processes = 0;          ///< so many processes there are
  std::size_t refused = 0;            ///< so many of them this program may not look into: those of other users
  std::size_t possible_starters = 0;  ///< so many were searched for a process table
};

/// The launchers whose variables the environment source knows, for people: "Open MPI", "Hydra".
[[nodiscard]] std::vector<std::string_view> launchers_by_environment();

/// How jobs are listed.
struct list_options {
  debug_file_search debug_files = without_downloads();  ///< for the symbols of starters
};

/// Lists the jobs of this node: those of starters with a process table (MPI2DD, MPIR), those of PMIx servers, which
/// have ten seconds to answer, and those that the environment of ranks shows. It reads the environment of every process
/// once, and the symbols of processes that have children. Nothing is stopped, traced or written. A user sees the user's
/// own jobs, root sees those of all users; a job has one user. Thread: any. Error: limit (memory is exhausted).
[[nodiscard]] result<job_list> list_jobs(const list_options& options = {});

/// The process `listed_job::named` of the only job that the caller may look at and does not run in. Errors: not_found
/// (there is none), invalid_argument (there are several; the message names them), and those of `list_jobs`.
[[nodiscard]] result<process_id> only_job(const list_options& options = {});
/// The same from a list.
[[nodiscard]] result<process_id> only_job(const job_list& list);

/// A process of this node that leads to a job of Slurm: `srun`, if it runs on this node, otherwise what leads to the
/// ranks that run here. Errors: not_found (there is none; the message says which other steps there are),
/// invalid_argument (several steps of the job have ranks here; the message names them), and those of `list_jobs`.
[[nodiscard]] result<process_id> process_of(const slurm_job& wanted, const list_options& options = {});

}  // namespace mpiacq
