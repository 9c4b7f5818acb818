// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "mpiacq/job/rank_names.hpp"
#include "mpiacq/ranks/call_tree.hpp"

namespace mpiacq::tool {

/// Frames that follow each other without a branch: text reports show them together. A tree has at most twice as many
/// chains as different stacks, however deep it is.
struct call_chain {
  struct frame {
    call_tree::node_number node = call_tree::root;
    std::size_t repeats = 1;  ///< the number of consecutive frames at this place: a recursion
  };
  std::vector<frame> frames;                      ///< outermost first, never empty
  call_tree::node_number last = call_tree::root;  ///< the innermost node; its ranks and counts are those of all frames
  std::optional<std::size_t> parent;              ///< its index in the list; empty at the top
  std::vector<std::size_t> children;
};

/// Parents before their children, in the order of `call_tree::in_order`.
[[nodiscard]] std::vector<call_chain> chains_of(const call_tree& tree);

/// Where the ranks diverge.
struct divergence {
  /// The innermost frame that all ranks share; empty if they have none in common.
  std::optional<call_tree::node_number> common;
  /// The innermost frame below which ranks are in different calls; empty if they agree to the end.
  std::optional<call_tree::node_number> deepest;
};
[[nodiscard]] divergence divergence_of(const call_tree& tree);

/// "main", "libmpi.so.40+0x1234", "0x7f...", "[no-unwind-info]".
[[nodiscard]] std::string frame_name(const call_tree::node& node);
/// The same with its place in the source or its module: "main at waits.c:31", "poll in libc.so.6". Printable.
[[nodiscard]] std::string frame_text(const call_tree::node& node);
/// The ranks that fit on a line: "0-3,7", "0,2,4,6,8,... (512 ranks)".
[[nodiscard]] std::string ranks_text(const rank_set& ranks, const rank_names& names = {});
/// The same behind "rank" or "ranks"; "no ranks".
[[nodiscard]] std::string ranks_words(const rank_set& ranks, const rank_names& names = {});

}  // namespace mpiacq::tool
