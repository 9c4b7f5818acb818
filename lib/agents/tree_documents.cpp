// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "tree_documents.hpp"

#include <memory>
#include <utility>

namespace mpiacq::agents {

tree_part stand_in<call_tree>::to(const call_tree& tree) {
  tree_part part;
  part.samples = tree.samples();
  part.nodes.reserve(tree.size());
  for (call_tree::node_number i = 0; i < tree.size(); ++i) {
    const call_tree::node& node = tree[i];
    part.nodes.push_back({node.parent, node.place ? std::optional(*node.place) : std::nullopt, node.inlined, node.end,
                          node.why, node.ranks, node.standing, node.steady, node.stacks, node.stacks_ending,
                          node.threads});
  }
  return part;
}

result<call_tree> stand_in<call_tree>::from(tree_part part) {
  std::vector<call_tree::node> nodes;
  nodes.reserve(part.nodes.size());
  for (tree_node_part& from : part.nodes) {
    call_tree::node& node = nodes.emplace_back();
    if (from.place) node.place = std::make_shared<const code_place>(std::move(*from.place));
    node.inlined = from.inlined;
    node.parent = from.parent;
    node.end = from.end;
    node.why = std::move(from.why);
    node.ranks = std::move(from.ranks);
    node.standing = std::move(from.standing);
    node.steady = std::move(from.steady);
    node.stacks = from.count;
    node.stacks_ending = from.ending;
    node.threads = from.threads;
  }
  return call_tree::of_nodes(std::move(nodes), static_cast<std::size_t>(part.samples));
}

}  // namespace mpiacq::agents
