// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// A graph that shows which nodes can never go on. A node requires all of its needs; a need requires one of some nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mpiacq::waits {

/// A node without needs goes on. A node goes on if each of its needs has a node that goes on. All others are stuck. If
/// nodes wait for all of several nodes, a cycle is enough to be stuck. If one of several is enough, it takes a knot,
/// which is a set that no need leaves.
class needs {
 public:
  using node = std::uint32_t;

  [[nodiscard]] node add() { return nodes_++; }
  [[nodiscard]] std::size_t size() const { return nodes_; }
  /// The node `who` needs one of these nodes. An empty list means that it is stuck.
  void need(node who, std::span<const node> one_of);
  void need(node who, node what) { need(who, std::span(&what, 1)); }
  /// Takes all needs from the nodes with `true`, which may be fewer than there are nodes. They go on.
  void free(const std::vector<bool>& which);

  /// Whether each node is stuck, by node. Takes linear time.
  [[nodiscard]] std::vector<bool> stuck() const;

  /// The sets of stuck nodes that all need each other, directly or through other nodes of the set.
  struct knots {
    std::vector<std::vector<node>> all;  ///< each in order
    /// By node: the knot that it is in or needs (one of them, if there are several); `none` for nodes that go on.
    std::vector<std::uint32_t> of;
    static constexpr std::uint32_t none = UINT32_MAX;
  };
  [[nodiscard]] knots knots_among(const std::vector<bool>& stuck) const;
  /// By node: the only node that it needs; the node itself if it has several needs or a need with several nodes.
  [[nodiscard]] std::vector<node> only_needs() const;

 private:
  struct one_need {
    node who;
    std::size_t first, last;  ///< in `members_`
  };

  node nodes_ = 0;
  std::vector<one_need> needs_;
  std::vector<node> members_;
};

}  // namespace mpiacq::waits
