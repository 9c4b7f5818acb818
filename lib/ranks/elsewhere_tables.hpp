// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/job/job_graph.hpp"
#include "mpiacq/mpi2dd/mpi2dd_reading.hpp"
#include "mpiacq/ranks/agents_options.hpp"

namespace mpiacq {

/// Reads tables of MPI2DD processes on other nodes. Thread: one at a time.
class elsewhere_tables {
 public:
  virtual ~elsewhere_tables() = default;
  /// As a walk takes it. It must not outlive this.
  [[nodiscard]] virtual mpi2dd::elsewhere_reader reader() = 0;
  /// The hosts, in the order in which they were met.
  [[nodiscard]] virtual std::vector<graph_host> hosts() const = 0;
};

/// By agents, for the job of a process of this node. Agents search `debug_folders` of their nodes. The room of the
/// agents implements it.
[[nodiscard]] std::unique_ptr<elsewhere_tables> tables_by_agents(process_id named, const agents_options& options,
                                                                 const mpi2dd::walk_limits& limits,
                                                                 std::vector<std::string> debug_folders);

}  // namespace mpiacq
