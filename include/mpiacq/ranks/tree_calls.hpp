// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The MPI calls that the programs of many ranks have made.
#pragma once

#include <vector>

#include "mpiacq/queues/mpi_call.hpp"
#include "mpiacq/ranks/call_tree.hpp"

namespace mpiacq {

/// One MPI call in a tree.
struct tree_call {
  call_tree::node_number node = call_tree::root;  ///< the frame of the MPI's function
  rank_activity call;                             ///< without arguments; with the place of the caller if it is known
};

/// The outermost MPI function of each path of the tree, which the program has called. MPI functions that are called
/// inside it do not count. In the order of the nodes.
[[nodiscard]] std::vector<tree_call> calls_of_programs(const call_tree& tree);

}  // namespace mpiacq
