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
  /// The reader for `mpi2dd::walk`. It must not outlive this object.
  [[nodiscard]] virtual mpi2dd::elsewhere_reader reader() = 0;
  /// The hosts of these tables, in the order in which the walk reached them.
  [[nodiscard]] virtual std::vector<graph_host> hosts() const = 0;
};

/// Reads the tables through agents, for the job of process `named` of this node. The agents search `debug_folders` of
/// their nodes. lib/agents implements this function.
[[nodiscard]] std::unique_ptr<elsewhere_tables> tables_by_agents(process_id named, const agents_options& options,
                                                                 const mpi2dd::walk_limits& limits,
                                                                 std::vector<std::string> debug_folders);

}  // namespace mpiacq
