// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "mpiacq/base/error.hpp"
#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/job.hpp"
#include "mpiacq/ranks/call_tree.hpp"
#include "report/job_origin.hpp"
#include "report/rank_hosts.hpp"
#include "report/report_stream.hpp"

namespace mpiacq::tool {

/// What became of one rank that was to be looked at.
struct stacked_rank {
  entry_index entry;
  process_id pid;
  std::string host;
  bool is_local = true;
  std::size_t samples = 0;      ///< in which its stacks were taken
  std::vector<error> problems;  ///< why it could not be taken, in some samples or in all
};
/// "taken", or why not at all: "remote", "gone", "not-permitted", "busy", "failed".
[[nodiscard]] std::string_view outcome_of(const stacked_rank& rank);

/// The stacks of a job, for one of the reports below.
struct stacks_snapshot {
  starter_facts starter;
  job_origin origin;
  std::vector<job_world> worlds;  ///< by number; none with MPIR
  rank_names names;               ///< of what the tree and the rows below have for ranks
  rank_hosts hosts;               ///< that the ranks below are on
  call_tree tree;
  std::vector<stacked_rank> ranks;  ///< those that were selected, in order
  std::size_t samples = 1;
  std::chrono::duration<double> interval{0};
  std::chrono::duration<double> held{0};  ///< how long ranks were stopped, in all samples together
  std::vector<error> problems;            ///< of the table
};

/// A tree for people; `colour` for a terminal. Single calls are not indented, branches are, with their ranks.
void write_stacks_text(report_stream& out, const stacks_snapshot& snapshot, bool colour);
/// The same without its first line, for the report of a job that has one.
void write_stacks_body(report_stream& out, const stacks_snapshot& snapshot, bool colour);
/// "main;solve;PMPI_Barrier 3" for each different stack, as flame graph tools read it.
void write_stacks_folded(report_stream& out, const call_tree& tree);
/// For Graphviz.
void write_stacks_dot(report_stream& out, const stacks_snapshot& snapshot);

}  // namespace mpiacq::tool
