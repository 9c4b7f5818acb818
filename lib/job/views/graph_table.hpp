// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "mpiacq/job/process_table.hpp"
#include "mpiacq/mpi2dd/mpi2dd_graph.hpp"

namespace mpiacq {

/// Makes process tables of an MPI2DD graph, one after the other as the graph grows. Worlds keep their numbers.
class graph_tables {
 public:
  /// Every rank that some process table lists now. `pointer_size`: the starter's, for the layout that the draft lays
  /// down; `module_path`: what defines its MPI2DD_info.
  /// `published`: the number that the job's own tables have for a process; empty: the same as in the graph.
  [[nodiscard]] process_table make(const mpi2dd::graph& job, std::size_t pointer_size, std::string module_path,
                                   const std::function<process_id(mpi2dd::process_number)>& published = {});

 private:
  /// A world of the graph by its number in the table. Those that a starter made come before those that are spawned, as
  /// far as they were found together.
  void number_worlds(const mpi2dd::graph& job);
  std::vector<std::uint32_t> numbers_;  ///< by world_number
  std::vector<mpi2dd::world_number> order_;
};

}  // namespace mpiacq
