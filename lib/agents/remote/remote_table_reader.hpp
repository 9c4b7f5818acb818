// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Reads processes of other nodes for a walk over an MPI2DD job.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "elsewhere_tables.hpp"
#include "remote/node_agents.hpp"

namespace mpiacq::agents {

/// Starts an agent on each host of a request, and asks all agents together. Thread: one at a time.
class remote_table_reader final : public elsewhere_tables {
 public:
  /// `named`: a process of the job on this node; its Slurm job is used if `options` name none. Agents search
  /// `debug_folders` of their nodes.
  remote_table_reader(process_id named, const agents_options& options, const mpi2dd::walk_limits& limits,
                      std::vector<std::string> debug_folders);

  [[nodiscard]] mpi2dd::elsewhere_reader reader() override;
  /// The accounts of the processes, in order. A process that no agent could reach has the reason.
  [[nodiscard]] std::vector<mpi2dd::process_account> read(std::vector<mpi2dd::process_request> asked);
  [[nodiscard]] std::vector<graph_host> hosts() const override;

 private:
  void reach_hosts_of(const std::vector<mpi2dd::process_request>& asked);

  node_agents agents_;
  mpi2dd::walk_limits limits_;
  user_id user_;  ///< the user of the process at which the walk begins
  std::vector<std::string> debug_folders_;
  std::vector<std::string> hosts_;
  std::map<std::string, std::size_t, std::less<>> nodes_;  ///< the node in `agents_` by each of its host's names
};

}  // namespace mpiacq::agents
