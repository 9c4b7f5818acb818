// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Who can never go on: a graph of nodes that need all of their needs, each of which is one of some nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mpiacq::waits {

/// A node without needs goes on. One whose needs have each a node that goes on does too. All others are stuck: a cycle
/// is enough for that where one waits for all, and a knot (nothing leads out of it) where one of some is enough.
class needs {
 public:
  using node = std::uint32_t;

  [[nodiscard]] node add() { return nodes_++; }
  [[nodiscard]] std::size_t size() const { return nodes_; }
  /// `who` needs one of these; none: it is stuck.
  void need(node who, std::span<const node> one_of);
  void need(node who, node what) { need(who, std::span(&what, 1)); }

  /// By node. Linear.
  [[nodiscard]] std::vector<bool> stuck() const;

  /// Among those that are stuck: each set of nodes that all need each other, be it over others of the set.
  struct knots {
    std::vector<std::vector<node>> all;  ///< each in order
    /// By node: which knot it is in, or needs (one of them, if several); `none` for those that go on.
    std::vector<std::uint32_t> of;
    static constexpr std::uint32_t none = UINT32_MAX;
  };
  [[nodiscard]] knots knots_among(const std::vector<bool>& stuck) const;
  /// By node: the one that it needs; itself where there are more needs, or more nodes that would do.
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
