// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Decides whether ranks of other nodes are read, and how their agents are started.
#pragma once

#include <memory>
#include <optional>

#include "mpiacq/job/job.hpp"
#include "mpiacq/job/job_graph.hpp"
#include "mpiacq/ranks/rank_group.hpp"
#include "mpiacq/ranks/rank_selection.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "options/job_command_options.hpp"

namespace mpiacq::tool {

/// The options with which the ranks of a job are read. `wanted`: the user's choice; automatic starts agents if the job
/// has selected ranks on other nodes. Without agents, those ranks are left out. `stop` is a descriptor that ends the
/// waiting when it becomes readable; -1: none.
[[nodiscard]] rank_options ranks_at(const job_description& job, const rank_selection& ranks,
                                    const debug_file_search& search, agent_start wanted, int stop);

/// Whether agents open the gates of ranks of other nodes: the user has requested agents, or a look that starts them.
[[nodiscard]] bool open_gates_elsewhere(const job_command_options& options);

/// The agents of a job that mpiacq controls, for the looks that `launch` and `attach` take.
class agents_of_job {
 public:
  /// `stop` as above.
  agents_of_job(const job_command_options& options, int stop) : options_(options), stop_(stop) {}

  /// Before the launch: the request for the job's starter; empty if it need not launch agents. Errors: as
  /// `awaited_agents::open`, if the user has requested this way to start agents.
  [[nodiscard]] result<std::optional<mpir::daemon_request>> request();
  /// Before the attach, when another tracer can still attach to the starter: starts the agents if the job has a table
  /// by now.
  void reach(process_id named);

  /// The ranks of all nodes, for a job with a table: those that the user has selected, and `others`. Null if only ranks
  /// of this node are read.
  [[nodiscard]] std::shared_ptr<rank_group> ranks(job& subject, const rank_set& others = {});
  /// Whether agents open the gates of ranks of other nodes.
  [[nodiscard]] bool open_gates() const { return open_gates_elsewhere(options_); }
  [[nodiscard]] int stop() const { return stop_; }
  /// Ends all agents.
  void leave() { nodes_.reset(); }

 private:
  [[nodiscard]] bool are_wanted() const;
  /// The ranks that the user has selected and, with gates, those that may wait at a gate on another node.
  [[nodiscard]] rank_selection selection(bool with_gates) const;
  void take(result<rank_group> nodes);

  const job_command_options& options_;
  int stop_;
  std::optional<awaited_agents> coming_;
  std::shared_ptr<rank_group> nodes_;
};

/// The options for agents that read the tables of an MPI2DD job, whose other nodes become known during the walk.
/// `wanted`: not none.
[[nodiscard]] agents_options agents_for_tables(process_id named, agent_start wanted, int stop);

/// Prints the reason for each node that was not reached to standard error.
void complain_of_nodes(const rank_group& ranks);
void complain_of_nodes(const job_graph& graph);

}  // namespace mpiacq::tool
