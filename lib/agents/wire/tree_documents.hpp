// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// Call trees in documents: the nodes of a `mpiacq.stacks/1` document, and what merging needs in addition.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "mpiacq/ranks/call_tree.hpp"
#include "wire/document.hpp"

namespace mpiacq::agents {

/// Most nodes have the same ranks as their parent, in all samples. Such a set is not sent again, so that the size
/// depends on where ranks part, and not on the depth of the tree.
struct tree_node_part {
  std::uint32_t parent = 0;
  std::optional<code_place> place;
  bool inlined = false;
  stack_end end = stack_end::outermost;
  std::string why;
  std::optional<rank_set> ranks;             ///< empty: equal to those of the parent
  std::optional<rank_set> standing, steady;  ///< empty: equal to `ranks`
  std::uint64_t count = 0, ending = 0, threads = 0;
};
struct tree_part {
  std::uint64_t samples = 0;
  std::vector<tree_node_part> nodes;
};

template <>
struct stand_in<call_tree> {
  using type = tree_part;
  [[nodiscard]] static tree_part to(const call_tree& tree);
  [[nodiscard]] static result<call_tree> from(tree_part part);
};

template <>
inline constexpr auto last_of<stack_end> = stack_end::frame_limit;

}  // namespace mpiacq::agents

namespace mpiacq {

template <>
inline constexpr auto members<code_place> = std::tuple{
    member{"function", &code_place::function}, member{"file", &code_place::file}, member{"line", &code_place::line},
    member{"module", &code_place::module_path}, member{"offset", &code_place::offset}};
template <>
inline constexpr auto members<agents::tree_node_part> =
    std::tuple{member{"parent", &agents::tree_node_part::parent},     member{"place", &agents::tree_node_part::place},
               member{"inlined", &agents::tree_node_part::inlined},   member{"end", &agents::tree_node_part::end},
               member{"why", &agents::tree_node_part::why},           member{"ranks", &agents::tree_node_part::ranks},
               member{"standing", &agents::tree_node_part::standing}, member{"steady", &agents::tree_node_part::steady},
               member{"count", &agents::tree_node_part::count},       member{"ending", &agents::tree_node_part::ending},
               member{"threads", &agents::tree_node_part::threads}};
template <>
inline constexpr auto members<agents::tree_part> =
    std::tuple{member{"samples", &agents::tree_part::samples}, member{"nodes", &agents::tree_part::nodes}};

}  // namespace mpiacq
