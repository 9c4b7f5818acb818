// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
#include "report/text/tree_arguments.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "mpiacq/ranks/tree_calls.hpp"
#include "report/call_chains.hpp"
#include "report/text/text_parts.hpp"

namespace mpiacq::tool {

namespace {

using node_number = call_tree::node_number;

constexpr std::size_t groups_shown = 4;

/// "(source 0, tag 10)"; empty if no argument is known.
std::string arguments_text(const rank_activity& doing) {
  return call_text(doing).substr(doing.function.size());
}

}  // namespace

tree_arguments::tree_arguments(const call_tree& tree, const std::vector<stacked_rank>& ranks) {
  const bool any =
      std::any_of(ranks.begin(), ranks.end(), [](const stacked_rank& rank) { return rank.doing.has_value(); });
  if (!any) return;
  std::unordered_map<const stacked_rank*, std::vector<node_number>> frames_of;
  for (const auto& [node, call] : calls_of_programs(tree)) {
    // Where a rank has several threads, it cannot be seen which of them is the first.
    if (tree[node].threads > tree[node].ranks.count()) continue;
    for (const rank_set::range& range : tree[node].ranks.ranges()) {
      auto row = std::lower_bound(ranks.begin(), ranks.end(), entry_index{range.first},
                                  [](const stacked_rank& one, entry_index least) { return one.entry < least; });
      for (; row != ranks.end() && row->entry.value() <= range.last; ++row) {
        if (row->doing && row->doing->function == call.function && row->doing->at == call.at)
          frames_of[&*row].push_back(node);
      }
    }
  }
  std::unordered_map<node_number, std::map<std::string, std::size_t>> places;
  for (const stacked_rank& rank : ranks) {
    const auto found = frames_of.find(&rank);
    if (found == frames_of.end() || found->second.size() != 1) continue;
    const node_number node = found->second.front();
    std::vector<group>& groups = groups_[node];
    const auto [place, is_new] = places[node].try_emplace(arguments_text(*rank.doing), groups.size());
    if (is_new) groups.emplace_back(place->first, rank_set());
    groups[place->second].second.add(rank.entry);
  }
  for (auto& [node, groups] : groups_) {
    rank_set told;
    for (const group& one : groups) told.add(one.second);
    const rank_set others = tree[node].ranks.without(told);
    if (!others.empty()) groups.emplace_back("", others);
  }
}

const std::vector<tree_arguments::group>* tree_arguments::at(node_number node) const {
  const auto found = groups_.find(node);
  return found == groups_.end() ? nullptr : &found->second;
}

std::string tree_arguments::of_all(node_number node) const {
  const auto* groups = at(node);
  return groups != nullptr && groups->size() == 1 ? printable(groups->front().first) : std::string();
}

std::vector<std::string> tree_arguments::of_groups(node_number node, const rank_names& names) const {
  const auto* groups = at(node);
  if (groups == nullptr || groups->size() < 2) return {};
  std::vector<std::string> lines;
  for (const auto& [arguments, ranks] : *groups) {
    if (lines.size() == groups_shown) {
      lines.push_back(fmt::format("and {} more: see --json", groups->size() - groups_shown));
      break;
    }
    lines.push_back(fmt::format("{}: {}", ranks_text(ranks, names),
                                arguments.empty() ? "arguments not known" : printable(arguments)));
  }
  return lines;
}

}  // namespace mpiacq::tool
