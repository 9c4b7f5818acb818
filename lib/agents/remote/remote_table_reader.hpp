// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Processes of other nodes for a walk over an MPI2DD job.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "elsewhere_tables.hpp"
#include "remote/node_agents.hpp"

namespace mpiacq::agents {

/// Starts an agent on each host that it meets, and asks all of them together. Thread: one at a time.
class remote_table_reader final : public elsewhere_tables {
 public:
  /// For the job of a process of this node, by which agents find its Slurm job where `options` name none. Agents search
  /// `debug_folders` of their nodes.
  remote_table_reader(process_id named, const agents_options& options, const mpi2dd::walk_limits& limits,
                      std::vector<std::string> debug_folders);

  [[nodiscard]] mpi2dd::elsewhere_reader reader() override;
  /// What each says, in their order; where nobody could be asked, why.
  [[nodiscard]] std::vector<mpi2dd::process_account> read(std::vector<mpi2dd::process_request> asked);
  [[nodiscard]] std::vector<graph_host> hosts() const override;

 private:
  void reach_hosts_of(const std::vector<mpi2dd::process_request>& asked);

  node_agents agents_;
  mpi2dd::walk_limits limits_;
  user_id user_;  ///< of the process where the walk begins
  std::vector<std::string> debug_folders_;
  std::vector<std::string> hosts_;
  std::map<std::string, std::size_t, std::less<>> nodes_;  ///< the agents', by each name of theirs
};

}  // namespace mpiacq::agents
