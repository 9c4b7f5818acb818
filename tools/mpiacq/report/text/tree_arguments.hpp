// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mpiacq/job/rank_names.hpp"
#include "mpiacq/ranks/call_tree.hpp"
#include "report/stacks_report.hpp"

namespace mpiacq::tool {

/// The arguments of MPI calls at the frames of a tree of one moment. A frame has the arguments of a rank only if no
/// other frame, and no other thread of the rank, may be the one that has made the call.
class tree_arguments {
 public:
  /// `ranks` is in order of entries.
  tree_arguments(const call_tree& tree, const std::vector<stacked_rank>& ranks);

  /// "(source 0, tag 10, MPI_COMM_WORLD)" if all ranks of this frame have these arguments; empty otherwise. Printable.
  [[nodiscard]] std::string of_all(call_tree::node_number node) const;
  /// "0-2: (source 0, tag 10, MPI_COMM_WORLD)" for each group of ranks of this frame that has the same arguments, in
  /// order of the lowest ranks; a few of them. Empty if all have the same, or none are known. Printable.
  [[nodiscard]] std::vector<std::string> of_groups(call_tree::node_number node, const rank_names& names) const;

 private:
  using group = std::pair<std::string, rank_set>;
  [[nodiscard]] const std::vector<group>* at(call_tree::node_number node) const;

  std::unordered_map<call_tree::node_number, std::vector<group>> groups_;  ///< the arguments with their ranks
};

}  // namespace mpiacq::tool
