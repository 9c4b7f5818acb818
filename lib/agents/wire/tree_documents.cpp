// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "wire/tree_documents.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

namespace mpiacq::agents {

namespace {

/// Bounds all omitted sets together to 512 MiB: a few bytes could describe more than there is memory for.
constexpr std::size_t most_ranges = std::size_t{1} << 26U;

std::optional<rank_set> unless_known(const rank_set& ranks, const rank_set& known) {
  return ranks == known ? std::nullopt : std::optional(ranks);
}

/// Restores omitted sets, and rejects sets that should have been omitted.
class set_restorer {
 public:
  bool put(rank_set& into, std::optional<rank_set>&& ranks, const rank_set& known) {
    if (ranks) {
      into = std::move(*ranks);
      return into != known;
    }
    ranges_ += known.ranges().size();
    if (ranges_ > most_ranges) return false;
    into = known;
    return true;
  }
  [[nodiscard]] bool is_too_much() const { return ranges_ > most_ranges; }

 private:
  std::size_t ranges_ = 0;
};

/// Twice the depth of the deepest stack that mpiacq reads. The bound exists because code that draws a tree recurses.
constexpr std::uint32_t most_depth = 131'072;

bool is_too_deep(const tree_part& part) {
  std::vector<std::uint32_t> depths(part.nodes.size());
  for (std::size_t i = 1; i < depths.size(); ++i) {
    const std::uint32_t parent = part.nodes[i].parent;
    if (parent >= i) return false;  // the caller refuses the tree
    depths[i] = depths[parent] + 1;
    if (depths[i] > most_depth) return true;
  }
  return false;
}

}  // namespace

tree_part stand_in<call_tree>::to(const call_tree& tree) {
  tree_part part;
  part.samples = tree.samples();
  part.nodes.reserve(tree.size());
  for (call_tree::node_number i = 0; i < tree.size(); ++i) {
    const call_tree::node& node = tree[i];
    part.nodes.push_back({node.parent, node.place ? std::optional(*node.place) : std::nullopt, node.inlined, node.end,
                          node.why, i == 0 ? node.ranks : unless_known(node.ranks, tree[node.parent].ranks),
                          unless_known(node.standing, node.ranks), unless_known(node.steady, node.ranks), node.stacks,
                          node.stacks_ending, node.threads});
  }
  return part;
}

result<call_tree> stand_in<call_tree>::from(tree_part part) {
  std::vector<call_tree::node> nodes;
  nodes.reserve(part.nodes.size());
  set_restorer sets;
  if (is_too_deep(part)) {
    return fail(error_code::limit, fmt::format("a call tree has stacks of more than {} frames", most_depth));
  }
  for (tree_node_part& from : part.nodes) {
    call_tree::node& node = nodes.emplace_back();
    if (from.place) node.place = std::make_shared<const code_place>(std::move(*from.place));
    node.inlined = from.inlined;
    node.parent = from.parent;
    node.end = from.end;
    node.why = std::move(from.why);
    const std::size_t number = nodes.size() - 1;
    const rank_set no_ranks;
    // A node before its parent is refused below.
    const rank_set& above = number == 0 || node.parent >= number ? no_ranks : nodes[node.parent].ranks;
    const bool is_root = number == 0 && from.ranks;
    if (is_root) node.ranks = std::move(*from.ranks);
    const bool ranks_fit = is_root || (number != 0 && sets.put(node.ranks, std::move(from.ranks), above));
    if (!ranks_fit || !sets.put(node.standing, std::move(from.standing), node.ranks) ||
        !sets.put(node.steady, std::move(from.steady), node.ranks)) {
      if (sets.is_too_much())
        return fail(error_code::limit, "the nodes of a call tree have more ranks than fit into memory");
      return fail(error_code::bad_format,
                  fmt::format("node {} of a call tree lacks its ranks, or repeats known ones", number));
    }
    node.stacks = from.count;
    node.stacks_ending = from.ending;
    node.threads = from.threads;
  }
  return call_tree::of_nodes(std::move(nodes), static_cast<std::size_t>(part.samples));
}

}  // namespace mpiacq::agents
