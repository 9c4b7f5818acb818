// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/queues/mpi_call.hpp"
#include "mpiacq/ranks/call_tree.hpp"
#include "report/job_origin.hpp"
#include "report/rank_hosts.hpp"
#include "report/report_stream.hpp"

namespace mpiacq::tool {

/// The outcome of the looks at one rank.
struct stacked_rank {
  entry_index entry;
  process_id pid;
  std::string host;
  bool is_local = true;
  std::size_t samples = 0;                  ///< the number of samples in which its stacks were taken
  std::vector<error> problems;              ///< the reasons why they could not be taken, in some samples or in all
  std::optional<rank_activity> doing = {};  ///< its MPI call with the arguments; empty without --args
};
/// "taken", or the reason: "remote", "gone", "not-permitted", "busy", "failed".
[[nodiscard]] std::string_view outcome_of(const stacked_rank& rank);

/// The stacks of a job, for one of the reports below.
struct stacks_snapshot {
  starter_facts starter;
  job_origin origin;
  std::vector<job_world> worlds;  ///< by number; none with MPIR
  rank_names names;               ///< of the ranks in the tree and the rows below
  rank_hosts hosts;               ///< of the ranks below
  call_tree tree;
  std::vector<stacked_rank> ranks;  ///< the selected ranks, in order
  std::size_t samples = 1;
  std::chrono::duration<double> interval{0};
  std::chrono::duration<double> held{0};  ///< the time for which ranks were stopped, in all samples together
  std::vector<error> problems;            ///< of the table
};

/// The text report, a tree; `colour` for a terminal. A sequence of single calls is not indented. Branches are indented
/// and name their ranks.
void write_stacks_text(report_stream& out, const stacks_snapshot& snapshot, bool colour);
/// The same without its first line, for the report of a job that has one.
void write_stacks_body(report_stream& out, const stacks_snapshot& snapshot, bool colour);
/// "main;solve;PMPI_Barrier 3" for each different stack, as flame graph tools read it.
void write_stacks_folded(report_stream& out, const call_tree& tree);
/// For Graphviz.
void write_stacks_dot(report_stream& out, const stacks_snapshot& snapshot);

}  // namespace mpiacq::tool
