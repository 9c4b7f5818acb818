// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "mpiacq/job/process_table.hpp"
#include "mpiacq/ranks/rank_selection.hpp"
#include "node_ranks.hpp"

namespace mpiacq {

/// The processes of this node that a job's ranks have spawned, as the ranks' queue libraries name them (Message Queue
/// Dumping 1.06, "Collecting new processes"). Each process gets the next number beyond MPI_COMM_WORLD as its identity
/// ("The Solution": an index into COMM_UNIVERSE, of which COMM_WORLD is a prefix), and is held and read like a rank.
/// For an MPI2DD job this class finds nothing: the job's own tables list the spawned processes.
///
/// Thread: one at a time.
class spawned_processes {
 public:
  /// `table`: the job's. Processes whose identities `ranks` does not select are ignored.
  spawned_processes(const process_table& table, rank_selection ranks, node_ranks_options options);

  /// Stops the spawned processes that are known already, so that one look sees them together with the ranks.
  void hold();
  /// Finds processes that the ranks of `seen` have spawned, and the processes that these have spawned in turn. Reads
  /// the queues of all of them, releases them, and appends the reports to `seen`.
  void read_into(group_queues& seen, const rank_queue_options& how);

 private:
  [[nodiscard]] std::vector<rank_process> newcomers(group_queues& seen);
  void read_group(node_ranks& group, group_queues& seen, const rank_queue_options& how);

  rank_selection ranks_;
  node_ranks_options options_;
  std::optional<user_id> user_;
  std::uint32_t first_identity_ = 0;
  std::uint32_t next_identity_ = 0;
  bool none_ = false;
  std::set<process_id> known_;                       ///< processes of this node
  std::vector<std::unique_ptr<node_ranks>> groups_;  ///< the processes that one look has found, for each look
};

}  // namespace mpiacq
