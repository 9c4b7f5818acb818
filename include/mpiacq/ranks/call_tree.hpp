// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "mpiacq/ranks/rank_set.hpp"
#include "mpiacq/ranks/stacks.hpp"

namespace mpiacq {

/// The stacks of many ranks as one: calls that begin alike are one path, and part where the ranks do. The outermost
/// frames stand below the root, which itself is no frame.
///
/// A tree is of one moment (`add`), of several parts of a job at it (`merge`), or of several moments (`add_sample`).
/// Nodes are numbered in the order in which they came, parents before their children, and never go: a tree of n frames
/// takes n steps to make, whatever they are, and a recursion may be as deep as it likes.
/// Thread: a value; copies share places alone, which do not change.
class call_tree {
 public:
  using node_number = std::uint32_t;
  static constexpr node_number root = 0;

  struct node {
    /// Null in the root and where a stack's end was cut off.
    std::shared_ptr<const code_place> place;
    bool inlined = false;
    node_number parent = root;
    /// Other than `outermost`: nobody knows who called the frames below. Such a node is a child of the root.
    stack_end end = stack_end::outermost;
    std::string why;    ///< of the first stack that ended so
    rank_set ranks;     ///< that have been seen here
    rank_set standing;  ///< those of which a thread has been seen with this as its innermost frame
    /// Those that were here in each sample that has any stack of them; the others came or went.
    rank_set steady;
    std::uint64_t stacks = 0;         ///< that lead through here, of all threads in all samples
    std::uint64_t stacks_ending = 0;  ///< those with this as the innermost frame
    std::uint64_t threads = 0;        ///< that were here at a time, at most

    [[nodiscard]] bool is_cut() const { return end != stack_end::outermost; }
    /// Whether a rank was here in some samples and not in others.
    [[nodiscard]] bool moved() const { return steady != ranks; }
  };

  call_tree();
  /// The tree of these nodes as `operator[]` gives them, the root first: for one that comes from elsewhere. Nothing of
  /// them is believed. bad_format: a node's parent does not stand before it, two siblings are the same call, a frame is
  /// neither a place nor a cut, or a rank is where its parent has not been; says which node.
  [[nodiscard]] static result<call_tree> of_nodes(std::vector<node> nodes, std::size_t samples);

  /// One thread's stack at this tree's one moment.
  void add(std::uint32_t rank, const thread_stack& stack);
  /// What was seen elsewhere, of other ranks, in the same samples: as if it had all been added here.
  void merge(const call_tree& elsewhere);
  /// What was seen of these ranks later.
  void add_sample(const call_tree& later);

  /// How many moments it is of; 0 while nothing was added.
  [[nodiscard]] std::size_t samples() const { return samples_; }
  [[nodiscard]] bool empty() const { return nodes_[root].stacks == 0; }
  /// Nodes with the root.
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  /// `number` is less than `size()`.
  [[nodiscard]] const node& operator[](node_number number) const { return nodes_[number]; }
  /// In order of their lowest ranks.
  [[nodiscard]] std::vector<node_number> children(node_number parent) const;
  /// All nodes with the root, each before its children, children in the order of `children`.
  [[nodiscard]] std::vector<node_number> in_order() const;

 private:
  struct links {
    node_number first_child = root;  ///< the root is nobody's child, so it stands for none
    node_number last_child = root;
    node_number next_sibling = root;
  };
  struct by_content {
    std::size_t operator()(const code_place* place) const;
    bool operator()(const code_place* a, const code_place* b) const { return a == b || *a == *b; }
  };
  using label = std::uint32_t;  ///< what tells a node from its siblings: its place's number, or its end

  label label_of(const std::shared_ptr<const code_place>& place, bool inlined);
  static label label_of(stack_end cut);
  node_number child(node_number parent, label which);
  node_number frame_below(node_number parent, const std::shared_ptr<const code_place>& place, bool inlined);
  node_number cut_below_root(stack_end end, const std::string& why);
  void pass(node_number number, std::uint32_t rank);
  /// Its own number here for each of the other's nodes.
  std::vector<node_number> graft(const call_tree& other);
  void take_steady(const call_tree& other, const std::vector<node_number>& grafted, const rank_set& before);

  std::vector<node> nodes_;
  std::vector<links> links_;
  std::unordered_map<std::uint64_t, node_number> children_;  ///< by parent and label
  /// Equal places have one number. One catalogue gives equal ones as one object, so that the first map answers mostly;
  /// what it knows it keeps, for the address of a place that has gone may become another's.
  std::unordered_map<std::shared_ptr<const code_place>, label> places_;
  std::unordered_map<const code_place*, label, by_content, by_content> contents_;
  std::vector<node_number> last_path_;  ///< of the stack that was added last: the next one mostly begins like it
  std::size_t samples_ = 0;
};

}  // namespace mpiacq
