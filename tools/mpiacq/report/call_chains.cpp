// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/call_chains.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "report/text/text_parts.hpp"
#include "text/file_name.hpp"

namespace mpiacq::tool {

namespace {

constexpr std::size_t longest_ranks_text = 32;

/// Whether all stacks through `above` continue into `only`, its one child.
bool goes_on(const call_tree& tree, call_tree::node_number above, call_tree::node_number only) {
  return tree[above].stacks_ending == 0 && tree[above].stacks == tree[only].stacks;
}

bool is_recursion(const call_tree::node& above, const call_tree::node& below) {
  return above.place && above.place == below.place && above.inlined == below.inlined;
}

}  // namespace

std::vector<call_chain> chains_of(const call_tree& tree) {
  std::vector<call_chain> chains;
  std::vector<std::size_t> chain_of(tree.size(), 0);
  for (const auto number : tree.in_order()) {
    if (number == call_tree::root) continue;
    const auto above = tree[number].parent;
    if (above != call_tree::root && goes_on(tree, above, number)) {
      call_chain& chain = chains[chain_of[number] = chain_of[above]];
      if (is_recursion(tree[chain.last], tree[number])) {
        ++chain.frames.back().repeats;
      } else {
        chain.frames.push_back({number});
      }
      chain.last = number;
      continue;
    }
    chain_of[number] = chains.size();
    std::optional<std::size_t> parent;
    if (above != call_tree::root) {
      parent = chain_of[above];
      chains[*parent].children.push_back(chains.size());
    }
    chains.push_back({{{number}}, number, parent, {}});
  }
  return chains;
}

divergence divergence_of(const call_tree& tree) {
  divergence found;
  const rank_set& all = tree[call_tree::root].ranks;
  std::vector<std::uint32_t> depths(tree.size(), 0);
  std::uint32_t deepest = 0;
  for (const auto number : tree.in_order()) {
    if (number == call_tree::root) continue;
    const call_tree::node& node = tree[number];
    const auto above = node.parent;
    const std::uint32_t depth = depths[number] = depths[above] + 1;
    // All ranks reach this frame along one path, which continues the innermost such frame so far.
    if (node.ranks == all && above == found.common.value_or(call_tree::root)) found.common = number;
    if (above != call_tree::root && node.ranks != tree[above].ranks && depth > deepest) {
      deepest = depth;
      found.deepest = above;
    }
  }
  return found;
}

std::string frame_name(const call_tree::node& node) {
  if (node.is_cut()) return fmt::format("[{}]", name(node.end));
  if (!node.place) return "[root]";
  const code_place& place = *node.place;
  if (!place.function.empty()) return printable(place.function);
  if (place.module_path.empty()) return fmt::format("{:#x}", place.offset.value());
  return fmt::format("{}+{:#x}", printable(base::file_name_of(place.module_path)), place.offset.value());
}

std::string frame_text(const call_tree::node& node) {
  if (node.is_cut()) return fmt::format("[{}: {}]", name(node.end), printable(node.why));
  std::string text = frame_name(node);
  if (!node.place || node.place->function.empty()) return text;
  const code_place& place = *node.place;
  if (!place.file.empty()) {
    text += fmt::format(" at {}", printable(base::file_name_of(place.file)));
    if (place.line != 0) text += fmt::format(":{}", place.line);
  } else if (!place.module_path.empty()) {
    text += fmt::format(" in {}", printable(base::file_name_of(place.module_path)));
  }
  if (node.inlined) text += " (inlined)";
  return text;
}

std::string ranks_text(const rank_set& ranks, const rank_names& names) {
  std::string text = names.text(ranks);
  if (text.size() <= longest_ranks_text) return text;
  text.resize(text.rfind(',', longest_ranks_text) + 1);
  return fmt::format("{}... ({} ranks)", text, ranks.count());
}

std::string ranks_words(const rank_set& ranks, const rank_names& names) {
  if (ranks.empty()) return "no ranks";
  return (ranks.count() == 1 ? "rank " : "ranks ") + ranks_text(ranks, names);
}

}  // namespace mpiacq::tool
