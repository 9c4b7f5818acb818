// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Whether ranks of other nodes are looked at, and through agents that are started how.
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

/// How the ranks of a job are looked at. `wanted`: what the user said; automatic starts agents where the job has
/// selected ranks elsewhere. Without agents, those ranks are left out. `stop` is a descriptor that ends the waiting
/// once it can be read; -1: none.
[[nodiscard]] rank_options ranks_at(const job_description& job, const rank_selection& ranks,
                                    const debug_file_search& search, agent_start wanted, int stop);

/// Whether agents open the gates of ranks of other nodes: the user has asked for agents, or for a look that starts
/// them.
[[nodiscard]] bool open_gates_elsewhere(const job_command_options& options);

/// The agents of a job that is under our control, for the looks that `launch` and `attach` take.
class agents_of_job {
 public:
  /// `stop` as above.
  agents_of_job(const job_command_options& options, int stop) : options_(options), stop_(stop) {}

  /// Before the launch: what its starter is to be asked for. Empty where no agents are wanted of it. Errors: as
  /// `awaited_agents::open`, where the user has asked for just that.
  [[nodiscard]] result<std::optional<mpir::daemon_request>> request();
  /// Before the attach, for then its starter can still be asked by others: has agents come, where there is a table by
  /// now.
  void reach(process_id named);

  /// The ranks of all nodes, now that the job has a table: those that the user has selected, and `others`. Null where
  /// those of this node are all that is looked at.
  [[nodiscard]] std::shared_ptr<rank_group> ranks(job& subject, const rank_set& others = {});
  /// Agents are to open the gates of ranks of other nodes.
  [[nodiscard]] bool open_gates() const { return open_gates_elsewhere(options_); }
  [[nodiscard]] int stop() const { return stop_; }
  /// All agents end.
  void leave() { nodes_.reset(); }

 private:
  [[nodiscard]] bool are_wanted() const;
  /// Those that the user has selected, and those that may wait at a gate of another node.
  [[nodiscard]] rank_selection selection(bool with_gates) const;
  void take(result<rank_group> nodes);

  const job_command_options& options_;
  int stop_;
  std::optional<awaited_agents> coming_;
  std::shared_ptr<rank_group> nodes_;
};

/// For the tables of an MPI2DD process's job, whose other nodes are met only as it is walked. `wanted`: not none.
[[nodiscard]] agents_options agents_for_tables(process_id named, agent_start wanted, int stop);

/// Says of each node that is not reached why, on standard error.
void complain_of_nodes(const rank_group& ranks);
void complain_of_nodes(const job_graph& graph);

}  // namespace mpiacq::tool
