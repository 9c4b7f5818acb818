// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
/// @file
/// The stacks of many ranks, threads or moments as one tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "mpiacq/base/ids.hpp"
#include "mpiacq/ranks/rank_set.hpp"
#include "mpiacq/ranks/stacks.hpp"

namespace mpiacq {

/// The stacks of many ranks as one tree. Stacks with the same outer calls share a path, which branches where the stacks
/// differ. The outermost frames are below the root, which is no frame.
///
/// A tree is of one moment (`add`), of several parts of a job at one moment (`merge`), or of several moments
/// (`add_sample`). Nodes have numbers in the order in which they were added, parents before their children, and are
/// never removed. A tree of n frames takes n steps, and stacks may be of any depth. Thread: a value; copies share
/// places, which do not change.
class call_tree {
 public:
  /// The number of a node.
  using node_number = std::uint32_t;
  static constexpr node_number root = 0;

  /// One frame, with the ranks that were there.
  struct node {
    /// Null in the root, and where the outer end of a stack is missing.
    std::shared_ptr<const code_place> place;
    bool inlined = false;
    node_number parent = root;
    /// Other than `outermost`: the callers of the frames below are not known. Such a node is a child of the root.
    stack_end end = stack_end::outermost;
    std::string why;    ///< `thread_stack::why` of the first such stack
    rank_set ranks;     ///< the ranks that were seen here
    rank_set standing;  ///< the ranks of which a thread had this innermost frame
    /// The ranks that were here in each sample that has a stack of them; the others came or went.
    rank_set steady;
    std::uint64_t stacks = 0;         ///< the number of stacks through this node, of all threads in all samples
    std::uint64_t stacks_ending = 0;  ///< the number of stacks with this innermost frame
    std::uint64_t threads = 0;        ///< the largest number of threads that were here at one moment

    /// Whether this is the missing outer end of stacks.
    [[nodiscard]] bool is_cut() const { return end != stack_end::outermost; }
    /// Whether a rank was here in some samples and not in others.
    [[nodiscard]] bool moved() const { return steady != ranks; }
  };

  /// An empty tree.
  call_tree();
  /// The tree of these nodes, the root first, for a tree that comes from another node. Everything is checked. Errors:
  /// bad_format (a parent comes after its child, two siblings are the same call, a frame has neither a place nor an
  /// end, or a rank is missing in the parent; the message names the node).
  [[nodiscard]] static result<call_tree> of_nodes(std::vector<node> nodes, std::size_t samples);

  /// Adds the stack of one thread at the moment of this tree.
  void add(entry_index entry, const thread_stack& stack);
  /// Adds a tree of other ranks at the same moments.
  void merge(const call_tree& elsewhere);
  /// Adds a tree of the same ranks at a later moment.
  void add_sample(const call_tree& later);

  /// The number of moments; 0 while nothing was added.
  [[nodiscard]] std::size_t samples() const { return samples_; }
  /// Whether no stack was added.
  [[nodiscard]] bool empty() const { return nodes_[root].stacks == 0; }
  /// The number of nodes, including the root.
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  /// One node; `number` is less than `size()`.
  [[nodiscard]] const node& operator[](node_number number) const { return nodes_[number]; }
  /// The children of a node in the order of their lowest ranks.
  [[nodiscard]] std::vector<node_number> children(node_number parent) const;
  /// All nodes including the root, each before its children, children in the order of `children`.
  [[nodiscard]] std::vector<node_number> in_order() const;

 private:
  struct links {
    node_number first_child = root;  ///< the root is no child, so it means none
    node_number last_child = root;
    node_number next_sibling = root;
  };
  struct by_content {
    std::size_t operator()(const code_place* place) const;
    bool operator()(const code_place* a, const code_place* b) const { return a == b || *a == *b; }
  };
  using label = std::uint32_t;  ///< what distinguishes siblings: the number of the place, or the end

  label label_of(const std::shared_ptr<const code_place>& place, bool inlined);
  static label label_of(stack_end cut);
  node_number child(node_number parent, label which);
  node_number frame_below(node_number parent, const std::shared_ptr<const code_place>& place, bool inlined);
  node_number cut_below_root(stack_end end, const std::string& why);
  void pass(node_number number, entry_index entry);
  /// For each node of the other tree, its number in this tree.
  std::vector<node_number> graft(const call_tree& other);
  void take_steady(const call_tree& other, const std::vector<node_number>& grafted, const rank_set& before);

  std::vector<node> nodes_;
  std::vector<links> links_;
  std::unordered_map<std::uint64_t, node_number> children_;  ///< indexed by parent and label
  /// Equal places have one number. Equal places of one catalogue are one object, so the first map mostly answers. It
  /// keeps its places, because the address of a destroyed place may be reused.
  std::unordered_map<std::shared_ptr<const code_place>, label> places_;
  std::unordered_map<const code_place*, label, by_content, by_content> contents_;
  std::vector<node_number> last_path_;  ///< of the last added stack: the next one mostly begins in the same way
  std::size_t samples_ = 0;
};

}  // namespace mpiacq
